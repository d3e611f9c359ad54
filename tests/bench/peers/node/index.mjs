// Linklet's redirect, as one would write it for Node: read the link, store the click, answer.

import { createHash, randomUUID } from "node:crypto";

import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";

const { LINKS_TABLE, CLICKS_TABLE, CLICK_SALT } = process.env;
const CACHE_SECONDS = 90;
// Any lifetime does: nothing that is measured depends on it.
const CLICK_KEPT_SECONDS = 365 * 86_400;

const dynamodb = DynamoDBDocumentClient.from(new DynamoDBClient({}), {
  marshallOptions: { removeUndefinedValues: true },
});

export const handler = async (event) => {
  const now = new Date();
  const code = event.pathParameters?.code ?? event.rawPath.split("/").pop();

  const link = await findLink(code);
  if (!link) return problem(404, "this short link does not exist");
  if (isGone(link, now)) return problem(410, "this short link is gone");

  try {
    await recordClick(link, event, now);
  } catch (error) {
    console.error("a click was lost", error);
  }
  return {
    statusCode: 301,
    headers: {
      Location: link.original_url,
      "Cache-Control": `private, max-age=${maxAge(link, now)}`,
    },
  };
};

async function findLink(code) {
  const { Item } = await dynamodb.send(
    new GetCommand({ TableName: LINKS_TABLE, Key: { pk: `LINK#${code}`, sk: "LINK" } }),
  );
  return Item;
}

function isGone(link, now) {
  if (link.tombstone) return true;
  const { expires_at: expiry, deleted_at: deletedAt, is_active: isActive } = link.availability;
  return deletedAt || isActive === false || (expiry && new Date(expiry) <= now);
}

async function recordClick(link, event, now) {
  const id = randomUUID();
  const { sourceIp } = event.requestContext.http;
  await dynamodb.send(
    new PutCommand({
      TableName: CLICKS_TABLE,
      Item: {
        pk: `CLICK#${link.short_code}#${parseInt(id.at(-1), 16)}`,
        sk: id,
        short_code: link.short_code,
        workspace_id: link.workspace_id,
        user_id: link.user_id,
        clicked_at: now.toISOString(),
        ip_hash: createHash("sha256").update(sourceIp + CLICK_SALT).digest("hex"),
        user_agent: event.headers["user-agent"],
        referer: event.headers.referer,
        correlation_id: event.headers["x-correlation-id"] ?? randomUUID(),
        ttl: Math.floor(now / 1000) + CLICK_KEPT_SECONDS,
      },
    }),
  );
}

function maxAge(link, now) {
  const { expires_at: expiry } = link.availability;
  return expiry ? Math.min(CACHE_SECONDS, Math.floor((new Date(expiry) - now) / 1000)) : CACHE_SECONDS;
}

function problem(status, title) {
  return {
    statusCode: status,
    headers: { "Content-Type": "application/problem+json" },
    body: JSON.stringify({ status, title }),
  };
}

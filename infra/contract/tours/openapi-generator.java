import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.AccountsApi;
import org.openapitools.client.api.LinksApi;
import org.openapitools.client.api.LinksApi.*;
import org.openapitools.client.api.StatisticsApi;
import org.openapitools.client.api.StatisticsApi.APIShowStatisticsRequest;
import org.openapitools.client.model.*;

/** What a user does first, with the client that openapi-generator makes of docs/openapi.yaml: `Tour URL ODD-LINK…`. clients.py runs it. */
class Tour {
    private static final String DESTINATION = "https://doc.rust-lang.org/book/";

    public static void main(String[] arguments) throws Exception {
        var client = new ApiClient().setReadTimeout(Duration.ofSeconds(30));
        client.updateBaseUri(arguments[0]);
        var accounts = new AccountsApi(client);
        var email = "tour-" + UUID.randomUUID() + "@example.com";
        var password = "correct horse battery";
        var account = accounts.register(AccountsApi.APIRegisterRequest.newBuilder()
                .newAccount(new NewAccount().email(email).password(password)).build());
        expect(account.getEmail().equals(email), account);
        var token = accounts.logIn(AccountsApi.APILogInRequest.newBuilder()
                .credentials(new Credentials().email(email).password(password)).build()).getToken();
        client.setRequestInterceptor(request -> request.setHeader("Authorization", "Bearer " + token));

        var links = new LinksApi(client);
        var link = create(links, new GivenLink().url(DESTINATION).title("The book").tags(List.of("book")));
        expect(link.getOriginalUrl().equals(DESTINATION), link);
        create(links, new GivenLink().url(DESTINATION + "ch01-00-getting-started.html"));
        expect(all(links).size() == 2, link);
        change(client, links, link.getShortCode());

        expect(follow(link.getShortUrl().toString()).equals(DESTINATION), link);
        for (var url : List.of(arguments).subList(1, arguments.length)) {
            var location = follow(url);
            expect(URI.create(location).getHost().equalsIgnoreCase("example.com"), location);
        }
        var since = LocalDate.now(ZoneOffset.UTC).minusDays(7).toString();
        var ofWeek = APIShowStatisticsRequest.newBuilder().code(link.getShortCode()).from(since).build();
        var deadline = Instant.now().plus(Duration.ofMinutes(1));
        while (new StatisticsApi(client).showStatistics(ofWeek).getTotalClicks() != 1) {
            expect(Instant.now().isBefore(deadline), "no click");
            Thread.sleep(500);
        }
        var address = client.getBaseUri() + "/api/stats/" + link.getShortCode() + "?format=csv&from=" + since;
        var csv = HttpRequest.newBuilder(URI.create(address)).header("Authorization", "Bearer " + token).build();
        var table = client.getHttpClient().send(csv, HttpResponse.BodyHandlers.ofString()).body();
        expect(table.startsWith("period,"), table);
    }

    private static Link create(LinksApi links, GivenLink given) throws ApiException {
        return links.createLink(APICreateLinkRequest.newBuilder().givenLink(given).build());
    }

    /** All links, page by page. The pages are small only to have several. */
    private static List<Link> all(LinksApi links) throws ApiException {
        var found = new ArrayList<Link>();
        String after = null;
        do {
            var page = links.listLinks(APIListLinksRequest.newBuilder().limit(1).after(after).build());
            found.addAll(page.getLinks());
            after = page.getNextCursor();
        } while (after != null);
        return found;
    }

    /** A change, unless somebody else has changed the link meanwhile. The second one comes too late. */
    private static void change(ApiClient client, LinksApi links, String code) throws Exception {
        var shown = links.showLinkWithHttpInfo(APIShowLinkRequest.newBuilder().code(code).build());
        var change = APIChangeLinkRequest.newBuilder().code(code).ifMatch(shown.getHeaders().get("etag").get(0));
        links.changeLink(change.linkChange(new LinkChange().description("To read")).build());
        try {
            links.changeLink(change.linkChange(new LinkChange().description("Read")).build());
        } catch (ApiException refused) {
            var problem = client.getObjectMapper().readValue(refused.getResponseBody(), Problem.class);
            expect(problem.getCode() == ProblemCode.PRECONDITION_FAILED, problem);
            return;
        }
        throw new AssertionError("the stale ETag was taken");
    }

    private static String follow(String url) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(url)).build();
        var answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.discarding());
        return answer.headers().firstValue("location").orElse("");
    }

    private static void expect(boolean fine, Object answer) {
        if (!fine) {
            throw new AssertionError("unexpected: " + answer);
        }
    }
}

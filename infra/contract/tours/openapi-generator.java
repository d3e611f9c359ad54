import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

import org.openapitools.client.ApiClient;
import org.openapitools.client.api.AccountsApi;
import org.openapitools.client.api.LinksApi;
import org.openapitools.client.api.StatisticsApi;
import org.openapitools.client.model.Credentials;
import org.openapitools.client.model.NewAccount;
import org.openapitools.client.model.NewLink;

/** What a user does first, with the client that openapi-generator makes of docs/openapi.yaml: `Tour URL ODD-LINK…`. clients.py runs it. */
class Tour {
    private static final String DESTINATION = "https://doc.rust-lang.org/book/";

    public static void main(String[] arguments) throws Exception {
        var client = new ApiClient().setBasePath(arguments[0]).setReadTimeout(30_000);
        var accounts = new AccountsApi(client);
        var email = "tour-" + UUID.randomUUID() + "@example.com";
        var password = "correct horse battery";
        var account = accounts.register(new NewAccount().email(email).password(password), null);
        expect(account.getEmail().equals(email), account);
        client.setBearerToken(accounts.logIn(new Credentials().email(email).password(password), null).getToken());

        var links = new LinksApi(client);
        var given = new NewLink().url(DESTINATION).title("The book").tags(List.of("book"));
        var link = links.shortenUrl(given, null, null);
        expect(link.getOriginalUrl().equals(DESTINATION), link);
        var listed = links.listUrls(null, null, null, null, null, null).getUrls();
        expect(listed.size() == 1 && listed.get(0).getExpiresAt() == null, listed);

        expect(follow(link.getShortUrl().toString()).equals(DESTINATION), link);
        for (var url : List.of(arguments).subList(1, arguments.length)) {
            var location = follow(url);
            expect(URI.create(location).getHost().equalsIgnoreCase("example.com"), location);
        }
        var deadline = Instant.now().plus(Duration.ofMinutes(1));
        while (new StatisticsApi(client).showStatistics(
                link.getShortCode(), null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null).getTotalClicks() != 1) {
            expect(Instant.now().isBefore(deadline), "no click");
            Thread.sleep(500);
        }
        System.exit(0); // okhttp's threads would wait for another request
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

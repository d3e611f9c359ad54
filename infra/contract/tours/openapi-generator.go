// What a user does first, with the client that openapi-generator makes of docs/openapi.yaml: `tour URL`. clients.py runs it.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"clients/linklet"
)

const destination = "https://doc.rust-lang.org/book/"

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	ctx = context.WithValue(ctx, linklet.ContextServerVariables, map[string]string{"url": os.Args[1]})
	client := linklet.NewAPIClient(linklet.NewConfiguration())

	email, password := fmt.Sprintf("tour-%d@example.com", time.Now().UnixNano()), "correct horse battery"
	account, _, err := client.AccountsAPI.Register(ctx).NewAccount(linklet.NewAccount{Email: email, Password: &password}).Execute()
	check(err)
	expect(account.Email == email, account)
	login, _, err := client.AccountsAPI.LogIn(ctx).Credentials(linklet.Credentials{Email: email, Password: password}).Execute()
	check(err)
	ctx = context.WithValue(ctx, linklet.ContextAccessToken, login.Token)

	name := "The book"
	given := linklet.NewLink{Url: destination, Title: &name, Tags: []string{"book"}}
	link, _, err := client.LinksAPI.ShortenUrl(ctx).NewLink(given).Execute()
	check(err)
	expect(link.OriginalUrl == destination, link)
	listed, _, err := client.LinksAPI.ListLinks(ctx).Execute()
	check(err)
	expect(len(listed.Links) == 1 && listed.Links[0].ExpiresAt.Get() == nil, listed)

	follow(ctx, link.ShortUrl)
	for clicks := int32(0); clicks != 1; time.Sleep(500 * time.Millisecond) {
		statistics, _, err := client.StatisticsAPI.ShowStatistics(ctx, link.ShortCode).Execute()
		check(err)
		clicks = statistics.TotalClicks
	}
}

func follow(ctx context.Context, url string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	check(err)
	answer, err := http.DefaultTransport.RoundTrip(request)
	check(err)
	defer answer.Body.Close()
	expect(answer.Header.Get("Location") == destination, answer)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func expect(fine bool, answer any) {
	if !fine {
		log.Fatalf("unexpected: %+v", answer)
	}
}

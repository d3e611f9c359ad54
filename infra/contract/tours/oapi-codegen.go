// What a user does first, with the client that oapi-codegen makes of docs/openapi.yaml: `tour URL ODD-LINK…`. clients.py
// runs it.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"

	"clients/api"
)

const destination = "https://doc.rust-lang.org/book/"

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var token string
	authorize := func(_ context.Context, request *http.Request) error {
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		return nil
	}
	client, err := api.NewClientWithResponses(os.Args[1], api.WithRequestEditorFn(authorize))
	check(err)

	email, password := "tour-"+uuid.NewString()+"@example.com", "correct horse battery"
	account, err := client.RegisterWithResponse(ctx, nil, api.NewAccount{Email: email, Password: &password})
	check(err)
	expect(account.JSON201 != nil && string(account.JSON201.Email) == email, account.Body)
	login, err := client.LogInWithResponse(ctx, nil, api.Credentials{Email: email, Password: password})
	check(err)
	expect(login.JSON200 != nil, login.Body)
	token = login.JSON200.Token

	name, tags := "The book", []string{"book"}
	created, err := client.ShortenUrlWithResponse(ctx, nil, api.NewLink{Url: destination, Title: &name, Tags: &tags})
	check(err)
	expect(created.JSON201 != nil && created.JSON201.OriginalUrl == destination, created.Body)
	link := created.JSON201
	listed, err := client.ListLinksWithResponse(ctx, nil)
	check(err)
	expect(listed.JSON200 != nil && len(listed.JSON200.Links) == 1 && listed.JSON200.Links[0].ExpiresAt == nil, listed.Body)

	expect(follow(ctx, link.ShortUrl).Header.Get("Location") == destination, created.Body)
	for _, url := range os.Args[2:] {
		location, err := follow(ctx, url).Location()
		check(err)
		expect(strings.EqualFold(location.Hostname(), "example.com"), []byte(location.String()))
	}
	for clicks := 0; clicks != 1; time.Sleep(500 * time.Millisecond) {
		statistics, err := client.ShowStatisticsWithResponse(ctx, link.ShortCode, nil)
		check(err)
		expect(statistics.JSON200 != nil, statistics.Body)
		clicks = statistics.JSON200.TotalClicks
	}
}

func follow(ctx context.Context, url string) *http.Response {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	check(err)
	answer, err := http.DefaultTransport.RoundTrip(request)
	check(err)
	answer.Body.Close()
	return answer
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func expect(fine bool, answer []byte) {
	if !fine {
		log.Fatalf("unexpected: %s", answer)
	}
}

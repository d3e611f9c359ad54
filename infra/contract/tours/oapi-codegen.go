// What a user does first, with the client that oapi-codegen makes of docs/openapi.yaml: `tour URL ODD-LINK…`. clients.py
// runs it.
package main

import (
	"context"
	"encoding/json"
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
	created, err := client.CreateLinkWithResponse(ctx, nil, api.GivenLink{Url: destination, Title: &name, Tags: &tags})
	check(err)
	expect(created.JSON201 != nil && created.JSON201.OriginalUrl == destination, created.Body)
	link := created.JSON201
	_, err = client.CreateLinkWithResponse(ctx, nil, api.GivenLink{Url: destination + "ch01-00-getting-started.html"})
	check(err)
	expect(len(links(ctx, client)) == 2, created.Body)
	change(ctx, client, link.ShortCode)

	expect(follow(ctx, link.ShortUrl).Header.Get("Location") == destination, created.Body)
	for _, url := range os.Args[2:] {
		location, err := follow(ctx, url).Location()
		check(err)
		expect(strings.EqualFold(location.Hostname(), "example.com"), []byte(location.String()))
	}
	since := time.Now().UTC().AddDate(0, 0, -7).Format(time.DateOnly)
	for clicks := 0; clicks != 1; time.Sleep(500 * time.Millisecond) {
		statistics, err := client.ShowStatisticsWithResponse(ctx, link.ShortCode, &api.ShowStatisticsParams{From: &since})
		check(err)
		expect(statistics.JSON200 != nil, statistics.Body)
		clicks = statistics.JSON200.TotalClicks
	}
	csv := api.Csv
	table, err := client.ShowStatisticsWithResponse(ctx, link.ShortCode, &api.ShowStatisticsParams{From: &since, Format: &csv})
	check(err)
	expect(strings.HasPrefix(string(table.Body), "period,"), table.Body)
}

// All links, page by page. The pages are small only to have several.
func links(ctx context.Context, client *api.ClientWithResponses) (found []api.Link) {
	limit := 1
	for parameters := (api.ListLinksParams{Limit: &limit}); ; {
		page, err := client.ListLinksWithResponse(ctx, &parameters)
		check(err)
		expect(page.JSON200 != nil, page.Body)
		found = append(found, page.JSON200.Links...)
		if page.JSON200.NextCursor == nil {
			return found
		}
		parameters.After = page.JSON200.NextCursor
	}
}

// A change, unless somebody else has changed the link meanwhile. The second one comes too late.
func change(ctx context.Context, client *api.ClientWithResponses, code string) {
	shown, err := client.ShowLinkWithResponse(ctx, code, nil)
	check(err)
	etag := shown.HTTPResponse.Header.Get("ETag")
	for _, text := range []string{"To read", "Read"} {
		changed, err := client.ChangeLinkWithResponse(ctx, code, &api.ChangeLinkParams{IfMatch: &etag}, api.LinkChange{Description: &text})
		check(err)
		if changed.JSON200 == nil {
			var problem api.Problem
			check(json.Unmarshal(changed.Body, &problem))
			expect(text == "Read" && problem.Code == api.ProblemCodePreconditionFailed, changed.Body)
			return
		}
	}
	log.Fatal("the stale ETag was taken")
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

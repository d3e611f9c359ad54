//! Recognition of bots: crawlers, link previews, monitors and other programs.
//!
//! The rules are tried in order, and the first match names the bot. To add a bot, add a rule to [`NAMED`] and a line to
//! `tests/user_agents.tsv`; a test fails if a rule has no line.

use ua_parser::user_agent::{Builder, Extractor, Parser, ValueRef};

/// The name that a rule gives to a matching bot.
#[derive(Clone, Copy)]
enum Name {
    /// This name, whatever the user agent contains.
    Fixed(&'static str),
    /// The text that the rule's first group matches.
    Own,
    /// The user agent is a person's, and no further rules are tried.
    Person,
}

use Name::{Fixed, Own, Person};

/// Rules for bots whose names don't contain "bot" or the like, or that need a fixed name.
///
/// A rule is a regular expression in ASCII without groups. It matches whole words, case-insensitively; the number after the
/// match is the version.
const NAMED: &[(&str, Name)] = &[
    // Link previews in chats, mails and social networks. iMessage's user agent names two others.
    ("facebookexternalhit/[0-9.]+ facebot twitterbot", Fixed("iMessage preview")),
    ("linkedinbot", Fixed("LinkedInBot")),
    ("facebookexternalhit", Fixed("facebookexternalhit")),
    ("facebookcatalog", Fixed("facebookcatalog")),
    ("facebot", Fixed("Facebot")),
    ("meta-external(?:agent|fetcher)", Own),
    ("^whatsapp", Fixed("WhatsApp preview")),
    ("slackbot-linkexpanding", Fixed("Slackbot-LinkExpanding")),
    ("slack-imgproxy", Fixed("Slack-ImgProxy")),
    ("slackbot", Fixed("Slackbot")),
    ("skypeuripreview", Fixed("SkypeUriPreview")),
    ("microsoftpreview", Fixed("MicrosoftPreview")),
    ("bluesky cardyb", Fixed("Bluesky Cardyb")),
    ("mastodon", Fixed("Mastodon")),
    ("(?:pleroma|akkoma|misskey|friendica|lemmy|pixelfed)", Own),
    ("pinterest/0", Fixed("Pinterestbot")),
    ("vkshare", Fixed("vkShare")),
    ("embedly", Fixed("Embedly")),
    ("iframely", Fixed("Iframely")),
    ("snap url preview service", Fixed("Snap URL Preview Service")),
    ("^tumblr", Fixed("Tumblr")),
    ("bitrix link preview", Fixed("Bitrix link preview")),
    ("websitemetadataretriever", Fixed("WebsiteMetadataRetriever")),
    ("bingpreview", Fixed("BingPreview")),
    // Microsoft Office requests a link before it opens the browser.
    ("(?:ms-office|microsoft office (?:existence|protocol) discovery)", Fixed("Microsoft Office")),
    ("(?:microsoft-?)?safelinks?", Fixed("SafeLinks")),
    // Google's bots, most of which have no "bot" in their names.
    ("google-[a-z]+(?:-[a-z]+)*", Own),
    ("google(?:other|imageproxy)", Own),
    ("(?:apis|adsbot|mediapartners|feedfetcher|duplexweb)-google(?:-mobile)?", Own),
    ("google web preview", Fixed("Google Web Preview")),
    ("googlestackdrivermonitoring-uptimechecks", Fixed("GoogleStackdriverMonitoring")),
    // Crawlers of search engines, archives and language models without "bot".
    ("baiduspider", Fixed("Baiduspider")),
    ("yahoo! slurp", Fixed("Yahoo! Slurp")),
    ("sogou (?:web|pic|inst|news) spider", Fixed("Sogou Spider")),
    ("yeti", Fixed("Yeti")),
    ("daum(?:oa)?", Fixed("Daum")),
    ("qwantify", Fixed("Qwantify")),
    ("ia_archiver", Fixed("ia_archiver")),
    ("heritrix", Fixed("Heritrix")),
    ("nutch", Fixed("Nutch")),
    ("bubing", Fixed("BUbiNG")),
    ("(?:chatgpt|claude|perplexity|mistralai)-user", Own),
    ("anthropic-ai", Fixed("anthropic-ai")),
    ("cohere-ai", Fixed("cohere-ai")),
    ("omgili", Fixed("omgili")),
    ("screaming frog seo spider", Fixed("Screaming Frog SEO Spider")),
    ("^wordpress", Fixed("WordPress")),
    ("feedly", Fixed("Feedly")),
    ("tiny tiny rss", Fixed("Tiny Tiny RSS")),
    // Monitors and health checks.
    ("uptimerobot", Fixed("UptimeRobot")),
    ("pingdom(?:pagespeed|tms|\\.com_bot_version_[0-9.]+)?", Fixed("Pingdom")),
    ("statuscake", Fixed("StatusCake")),
    ("site24x7", Fixed("Site24x7")),
    ("datadog/?synthetics", Fixed("Datadog Synthetics")),
    ("better uptime bot", Fixed("Better Uptime Bot")),
    ("kube-probe", Fixed("kube-probe")),
    ("elb-healthchecker", Fixed("ELB-HealthChecker")),
    ("amazon-route53-health-check-service", Fixed("Amazon Route 53 health check")),
    ("checkly", Fixed("Checkly")),
    ("newrelic(?:synthetics|pinger)", Fixed("New Relic Synthetics")),
    ("uptime-kuma", Fixed("Uptime-Kuma")),
    ("hetrixtools", Fixed("HetrixTools")),
    ("updown\\.io", Fixed("updown.io")),
    ("freshping", Fixed("Freshping")),
    ("catchpoint", Fixed("Catchpoint")),
    ("ruxitsynthetic", Fixed("Dynatrace Synthetic")),
    ("(?:prometheus|blackbox exporter)", Fixed("Prometheus")),
    ("check_http", Fixed("check_http")),
    ("zabbix", Fixed("Zabbix")),
    ("gtmetrix", Fixed("GTmetrix")),
    ("ptst", Fixed("WebPageTest")),
    ("chrome-lighthouse", Fixed("Lighthouse")),
    // Browsers that programs control.
    ("headlesschrome", Fixed("HeadlessChrome")),
    ("phantomjs", Fixed("PhantomJS")),
    ("(?:playwright|cypress)", Own),
    // Security scanners.
    ("censysinspect", Fixed("CensysInspect")),
    ("masscan", Fixed("masscan")),
    ("nmap scripting engine", Fixed("Nmap")),
    ("zgrab", Fixed("zgrab")),
    ("nuclei", Fixed("Nuclei")),
    ("nikto", Fixed("Nikto")),
    ("palo alto networks", Fixed("Palo Alto Networks")),
    // Command line tools, HTTP libraries and test tools. Short names match only at the beginning.
    ("symfony httpclient", Fixed("Symfony HttpClient")),
    ("(?:lib|py)?curl", Fixed("curl")),
    ("wget2?", Fixed("Wget")),
    ("python-requests", Fixed("python-requests")),
    ("python-urllib3?", Fixed("python-urllib")),
    ("aiohttp", Fixed("aiohttp")),
    ("python-httpx", Fixed("httpx")),
    ("^python", Fixed("Python")),
    ("go-http-client", Fixed("Go-http-client")),
    ("go-resty", Fixed("go-resty")),
    ("fasthttp", Fixed("fasthttp")),
    ("java-http-client", Fixed("Java-http-client")),
    ("^java", Fixed("Java")),
    ("apache-httpclient", Fixed("Apache-HttpClient")),
    ("^jersey", Fixed("Jersey")),
    ("^okhttp", Fixed("okhttp")),
    ("^dalvik", Fixed("Dalvik")),
    ("cfnetwork", Fixed("CFNetwork")),
    ("^dart", Fixed("Dart")),
    ("axios", Fixed("axios")),
    ("node-fetch", Fixed("node-fetch")),
    ("undici", Fixed("undici")),
    ("superagent", Fixed("superagent")),
    ("^node(?:\\.js)?", Fixed("Node.js")),
    ("^deno", Fixed("Deno")),
    ("^bun", Fixed("Bun")),
    ("^got", Fixed("got")),
    ("libwww-perl", Fixed("libwww-perl")),
    ("^ruby", Fixed("Ruby")),
    ("^faraday", Fixed("Faraday")),
    ("^rest-client", Fixed("rest-client")),
    ("^typhoeus", Fixed("Typhoeus")),
    ("http\\.rb", Fixed("http.rb")),
    ("^php", Fixed("PHP")),
    ("guzzle(?:http)?", Fixed("Guzzle")),
    ("^reqwest", Fixed("reqwest")),
    ("^ureq", Fixed("ureq")),
    ("^hyper", Fixed("hyper")),
    ("winhttp", Fixed("WinHTTP")),
    ("(?:windows)?powershell", Fixed("PowerShell")),
    ("postmanruntime", Fixed("PostmanRuntime")),
    ("^insomnia", Fixed("Insomnia")),
    ("httpie", Fixed("HTTPie")),
    ("httrack", Fixed("HTTrack")),
    ("apachebench", Fixed("ApacheBench")),
    ("^k6", Fixed("k6")),
    ("jmeter", Fixed("JMeter")),
    ("^artillery", Fixed("Artillery")),
    ("siege", Fixed("Siege")),
    ("scrapy", Fixed("Scrapy")),
];

/// Rules for other bots, as complete regular expressions.
const GENERAL: &[(&str, Name)] = &[
    // Phones of Cubot, apps of iRobot and SwitchBot. No further rules are tried for them.
    (r"(?i-u:\b(?:cubot|irobot|switchbot))", Person),
    // A word that ends in "bot" or the like, followed by what follows names of products but not of phones: Googlebot, GPTBot,
    // AhrefsBot, … It must not follow a slash or dot, which would be inside a URL.
    (
        r"(?:^|[ (;+])((?i-u:[a-z0-9_.-]+(?:bot|crawler|spider|scraper)s?(?:-[a-z]+)*))(?:/v?(\d+)(?:\.(\d+))?|[;:),+]| ?\(| \+|$)",
        Own,
    ),
    (r"(?-u:\b)((?i-u:[a-z0-9_.-]*(?:fetcher|preview|http-?client)))(?:/v?(\d+)(?:\.(\d+))?|$)", Own),
    // Many bots name a contact URL or address. In a user agent that claims to be a browser, one without `+` may be a toolbar's.
    (r"compatible; ([^;/)<>]+)(?:/v?(\d+)(?:\.(\d+))?)?[^)]*\+(?:https?:|mailto:)", Own),
    (r"^(?:Mozilla|Opera)/.*(?:\+https?:|[ (;](?i-u:bot|crawler|spider)(?:[/;:),+]|$))", Fixed("unknown")),
    (r"^(?:Mozilla|Opera)/", Person),
    (r"^([^/;()<>]+)(?:/v?(\d+)(?:\.(\d+))?)?.*https?:", Own),
    (r"(?:^|[ (;])(?i-u:bot|crawler|spider)(?:[/;:),+]|$)", Fixed("unknown")),
];

/// Compiled rules.
pub(crate) struct Bots(Extractor<'static>);

impl Bots {
    pub(crate) fn load() -> Result<Self, ua_parser::Error> {
        Ok(Self(Builder::new().push_all(rules())?.build()?))
    }

    /// Recognises a bot by its user agent; `None` for a person.
    pub(crate) fn find<'a>(&'a self, user_agent: &'a str) -> Option<ValueRef<'a>> {
        self.0.extract(user_agent).filter(|bot| bot.family != PERSON)
    }
}

/// The name that stands for a person. No bot can have it, since no rule's group matches a slash.
const PERSON: &str = "/";

fn rules() -> impl Iterator<Item = Parser<'static>> {
    let named = NAMED.iter().map(|(words, name)| parser(as_words(words), *name));
    named.chain(GENERAL.iter().map(|(regex, name)| parser((*regex).to_owned(), *name)))
}

fn as_words(words: &str) -> String {
    format!(r"(?-u:\b)((?i-u:{words}))(?-u:\b)(?:[/ ]v?(\d+)(?:\.(\d+))?)?")
}

fn parser(regex: String, name: Name) -> Parser<'static> {
    let family = match name {
        Own => None,
        Fixed(name) => Some(name.into()),
        Person => Some(PERSON.into()),
    };
    Parser { regex: regex.into(), family_replacement: family, ..Parser::default() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_rule_is_the_first_to_match_a_listed_user_agent() {
        let rules: Vec<_> = rules().map(|rule| Builder::new().push(rule).unwrap().build().unwrap()).collect();
        let used: BTreeSet<usize> = include_str!("../tests/user_agents.tsv")
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split('\t').nth(4))
            .filter_map(|user_agent| rules.iter().position(|rule| rule.extract(user_agent).is_some()))
            .collect();

        let unused: Vec<&str> = NAMED
            .iter()
            .chain(GENERAL)
            .enumerate()
            .filter(|(index, _)| !used.contains(index))
            .map(|(_, (regex, _))| *regex)
            .collect();
        assert!(unused.is_empty(), "no line for {unused:#?}");
    }
}

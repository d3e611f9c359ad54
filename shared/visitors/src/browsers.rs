//! Recognition of browsers.

use std::sync::LazyLock;

use linklet_domain::BrowserFamily;

use crate::words::Words;

/// Browsers that say no more of Mozilla than that they are compatible with it, beside those of [`OLD_BROWSERS`].
const COMPATIBLE_BROWSERS: [&str; 3] = ["ibrowse", "konqueror", "netpositive"];

/// What browsers, televisions and telephones say that name neither Mozilla nor Apple's engine: most are older than smartphones.
const OLD_BROWSERS: [&str; 33] = [
    "^amiga",
    "^applecoremedia",
    "^dillo",
    "^docomo",
    "^elinks",
    "^hbbtv",
    "^ibrowse",
    "^j-phone",
    "^kddi-",
    "^lg-",
    "^links",
    "^lynx",
    "^mot-",
    "^ncsa_mosaic",
    "^outlook-android",
    "^outlook-express",
    "^outlook-ios",
    "^sie-",
    "^softbank",
    "^vodafone",
    "^w3m",
    "midp",
    "mqqbrowser",
    "msie",
    "netfront",
    "opera",
    "presto",
    "series60",
    "symbianos",
    "ucbrowser",
    "ucweb",
    "up.browser",
    "wap1",
];

/// How the old browsers begin whose models follow the name without a gap.
const OLD_MODELS: [&str; 5] = ["blackberry", "nokia", "roku", "samsung", "sonyericsson"];

static OLD: LazyLock<Words> = LazyLock::new(|| Words::new(OLD_BROWSERS.into_iter()));

/// Whether a user agent, in lower case, is that of a browser, or of a bot that claims to be one.
pub(crate) fn claims_to_be_one(lower: &str) -> bool {
    lower.contains("applewebkit/")
        || lower.contains("mozilla/") && !is_only_compatible(lower)
        || OLD_MODELS.iter().any(|model| lower.starts_with(model))
        || OLD.find(lower).is_some()
}

/// Whether a user agent begins like `Mozilla/5.0 (compatible; …)`, as those of many programs do, and names no browser.
fn is_only_compatible(lower: &str) -> bool {
    let comment = lower.split_once('(').map_or("", |(_, comment)| comment);
    comment.strip_prefix("compatible").is_some_and(|rest| rest.starts_with([';', ')']))
        && !COMPATIBLE_BROWSERS.iter().any(|browser| comment.contains(browser))
}

/// How a family is recognised: by a product that it names. Of several families in one user agent, the first here counts.
struct Rule {
    family: BrowserFamily,
    products: &'static [&'static str],
    /// What may stand beside the product, if others name it, too: nearly every browser claims to be Chrome, Safari or Firefox.
    /// Whoever names something else is another browser, or an app that shows pages.
    beside: Option<&'static [&'static str]>,
}

const RULES: [Rule; 7] = [
    Rule { family: BrowserFamily::Edge, products: &["Edg", "EdgA", "EdgiOS", "Edge"], beside: None },
    Rule { family: BrowserFamily::Opera, products: &["OPR", "OPT", "OPX", "OPiOS", "Opera"], beside: None },
    Rule { family: BrowserFamily::Samsung, products: &["SamsungBrowser"], beside: None },
    Rule {
        family: BrowserFamily::Firefox,
        products: &["Firefox", "FxiOS"],
        beside: Some(&["Mozilla", "Gecko", "AppleWebKit", "Mobile", "Safari"]),
    },
    Rule {
        family: BrowserFamily::Chrome,
        products: &["CriOS"],
        beside: Some(&["Mozilla", "AppleWebKit", "Version", "Mobile", "Safari"]),
    },
    // With a `Version` it is the WebView of an app.
    Rule {
        family: BrowserFamily::Chrome,
        products: &["Chrome"],
        beside: Some(&["Mozilla", "AppleWebKit", "Mobile", "Safari"]),
    },
    Rule {
        family: BrowserFamily::Safari,
        products: &["Safari"],
        beside: Some(&["Mozilla", "AppleWebKit", "Version", "Mobile"]),
    },
];

/// The family of a person's browser; `None` for all other browsers, and for apps that show pages.
pub fn family(user_agent: &str) -> Option<BrowserFamily> {
    let named: Vec<&str> = products(user_agent).collect();
    let rule = RULES.iter().find(|rule| named.iter().any(|product| rule.products.contains(product)))?;
    let claimed = rule.beside.is_some_and(|beside| {
        named.iter().any(|product| !rule.products.contains(product) && !beside.contains(product))
    });
    // The browsers of Android 4, of BlackBerry and of others name nothing but Safari.
    let elsewhere = rule.family == BrowserFamily::Safari && !user_agent.contains("Mac OS X");
    (!claimed && !elsewhere).then_some(rule.family)
}

/// The names of the products that a user agent lists, outside of its comments.
fn products(user_agent: &str) -> impl Iterator<Item = &str> {
    user_agent
        .split('(')
        .enumerate()
        .filter_map(|(index, part)| if index == 0 { Some(part) } else { Some(part.rsplit_once(')')?.1) })
        .flat_map(str::split_ascii_whitespace)
        .map(|product| product.split_once('/').map_or(product, |(name, _)| name))
}

#[cfg(test)]
mod tests {
    use BrowserFamily::{Chrome, Edge, Firefox, Opera, Safari, Samsung};

    use super::*;

    const IPHONE: &str =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)";
    const ANDROID: &str = "Mozilla/5.0 (Linux; Android 14; K) AppleWebKit/537.36 (KHTML, like Gecko)";

    #[test]
    fn a_browser_is_of_the_family_whose_product_it_names() {
        for (platform, products, expected) in [
            (ANDROID, "Chrome/130.0.0.0 Mobile Safari/537.36", Chrome),
            (ANDROID, "Chrome/130.0.0.0 Mobile Safari/537.36 EdgA/130.0.0.0", Edge),
            (ANDROID, "Chrome/130.0.0.0 Mobile Safari/537.36 OPR/84.0.0.0", Opera),
            (ANDROID, "SamsungBrowser/26.0 Chrome/122.0.0.0 Mobile Safari/537.36", Samsung),
            ("Mozilla/5.0 (Android 14; Mobile; rv:132.0)", "Gecko/132.0 Firefox/132.0", Firefox),
            (IPHONE, "Version/18.0 Mobile/15E148 Safari/604.1", Safari),
            (IPHONE, "CriOS/130.0.6723.90 Mobile/15E148 Safari/604.1", Chrome),
            (IPHONE, "FxiOS/132.0 Mobile/15E148 Safari/605.1.15", Firefox),
            (IPHONE, "Version/18.0 EdgiOS/130.0.2849.68 Mobile/15E148 Safari/605.1.15", Edge),
            (IPHONE, "Version/18.0 Mobile/15E148 Safari/604.1 OPT/5.1.0", Opera),
            (IPHONE, "Version/18.0 Mobile/15E148 Safari/604.1 OPX/2.6.0", Opera),
            ("Opera/9.80 (J2ME/MIDP; Opera Mini/9/27.1407; U; en)", "Presto/2.8.119 Version/11.10", Opera),
        ] {
            assert_eq!(family(&format!("{platform} {products}")), Some(expected), "{products}");
        }
    }

    #[test]
    fn a_claimed_browser_that_names_something_else_has_no_family() {
        for (platform, products) in [
            (ANDROID, "Version/4.0 Chrome/130.0.0.0 Mobile Safari/537.36"),
            (ANDROID, "Chrome/130.0.0.0 Mobile Safari/537.36 AnyBrowser/1.0"),
            (ANDROID, "Version/4.0 Mobile Safari/534.30"),
            (IPHONE, "Version/18.0 Mobile/15E148 Safari/604.1 AnyApp/3"),
            (IPHONE, "Mobile/15E148"),
            ("Mozilla/5.0 (X11; Linux x86_64; rv:132.0)", "Gecko/20100101 Firefox/132.0 AnyMonkey/2.53"),
            ("Mozilla/5.0 (compatible; Chrome/130; Firefox/132)", ""),
            ("", ""),
        ] {
            assert_eq!(family(&format!("{platform} {products}")), None, "{products}");
        }
    }
}

//! Joins the modules of the web application into few files, so that its first view needs few requests.
//!
//! The source is many small ES modules that a browser could load one by one. Those that are always needed together are one
//! bundle: a folder of `pages/` or `parts/`, or everything else. Joining is no compiler: it relies on a few rules of writing,
//! which `functions/web/app/README.md` names, and refuses whatever breaks one of them.

use std::collections::{BTreeMap, BTreeSet};

/// The bundle of what every page needs.
const MAIN: &str = "main";
/// What draws, which every page needs, too: it is in front of that bundle, as it is.
pub const DRAWS: &str = "vendor/preact.js";

/// A file of the source: its path within `app/`, and its text.
pub struct Source {
    pub path: String,
    pub text: String,
}

/// The bundle that a source file belongs to: it is served as `<bundle>.js`.
pub fn bundle_of(path: &str) -> &str {
    let mut parts = path.split('/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some("pages" | "parts"), Some(folder), Some(_)) => folder,
        (Some("vendor"), Some(file), None) if path != DRAWS => file.trim_end_matches(".js"),
        _ => MAIN,
    }
}

/// The file in which a bundle begins: the only one that other bundles load when they need it later.
fn entry_of(bundle: &str, paths: &BTreeMap<String, Module>) -> Option<String> {
    let places = [format!("{bundle}.js"), format!("pages/{bundle}/{bundle}.js"), format!("parts/{bundle}/{bundle}.js")];
    places.into_iter().find(|path| paths.contains_key(path))
}

/// All bundles by name. What lies in `vendor/` is no source: it is only known by name, and served as it is.
///
/// # Errors
/// When a file breaks a rule; it says which.
pub fn join(sources: &[Source]) -> Result<BTreeMap<String, String>, String> {
    let modules: BTreeMap<String, Module> =
        sources.iter().map(|source| Ok((source.path.clone(), Module::read(source)?))).collect::<Result<_, String>>()?;
    let bundles: BTreeSet<&str> = modules.keys().map(|path| bundle_of(path)).collect();
    let joined = bundles
        .into_iter()
        .map(|bundle| Ok((bundle.to_owned(), Joined::of(bundle, &modules)?.text())))
        .collect::<Result<_, String>>()?;
    Ok(joined)
}

/// A file that was read: what it imports, what it declares, and the rest of it without comments.
struct Module {
    imports: Vec<Import>,
    exports: BTreeSet<String>,
    declared: BTreeSet<String>,
    /// The paths of what is loaded later.
    later: Vec<String>,
    body: String,
}

/// The names that a file takes from another one, whose path is within `app/`.
struct Import {
    names: Vec<String>,
    from: String,
    /// Whether it is `export { … } from`: the names are also this file's. Joined, they are exported where they are declared.
    is_passed_on: bool,
}

impl Module {
    fn read(source: &Source) -> Result<Self, String> {
        let wrong = |what: &str, line: &str| format!("app/{}: {what}: {line}", source.path);
        let mut module = Self {
            imports: vec![],
            exports: BTreeSet::new(),
            declared: BTreeSet::new(),
            later: vec![],
            body: String::new(),
        };
        let mut lines = without_comments(&source.text).into_iter();
        while let Some(line) = lines.next() {
            if line.starts_with("import ") || line.starts_with("export {") {
                let mut statement = line.to_owned();
                while !statement.ends_with(';') {
                    statement.push_str(lines.next().ok_or_else(|| wrong("a statement without an end", line))?.trim());
                }
                let import = Import::read(&statement, &source.path);
                module.add(import.ok_or_else(|| wrong("not `import { names } from './path.js';`", &statement))?);
                continue;
            }
            if let Some(declaration) = line.strip_prefix("export ") {
                let name = declared(declaration).ok_or_else(|| wrong("not an exported declaration", line))?;
                module.exports.insert(name.to_owned());
            }
            if let Some(name) = declared(line.strip_prefix("export ").unwrap_or(line)) {
                module.declared.insert(name.to_owned());
            }
            let (line, later) = rewritten(&without_types(line), &source.path).map_err(|what| wrong(&what, line))?;
            module.later.extend(later);
            module.body.push_str(&line);
            module.body.push('\n');
        }
        Ok(module)
    }

    fn add(&mut self, import: Import) {
        if import.is_passed_on {
            self.exports.extend(import.names.iter().cloned());
        }
        self.imports.push(import);
    }
}

impl Import {
    fn read(statement: &str, path: &str) -> Option<Self> {
        let is_passed_on = statement.starts_with("export ");
        let list = statement.strip_prefix("import {").or_else(|| statement.strip_prefix("export {"))?;
        let (names, from) = list.split_once("} from '")?;
        let names: Vec<_> =
            names.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let from = resolved(path, from.strip_suffix("';")?)?;
        names.iter().all(|name| is_name(name)).then_some(Self { names, from, is_passed_on })
    }
}

/// A line of code without the comments in it that say types.
fn without_types(line: &str) -> String {
    let (mut code, mut rest) = (String::new(), line);
    while let Some((before, behind)) = rest.split_once("/** @")
        && let Some((_, after)) = behind.split_once("*/")
    {
        code.push_str(before);
        rest = after.trim_start();
    }
    code + rest
}

/// The lines that do something. A comment has lines of its own, or stands behind code, where it stays unless it says a type.
fn without_comments(text: &str) -> Vec<&str> {
    let mut is_comment = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        let text = line.trim();
        if is_comment {
            is_comment = !text.ends_with("*/");
        } else if text.starts_with("/*") && !text.contains("*/") {
            is_comment = true;
        } else if !text.is_empty() && !text.starts_with("//") && !is_whole_comment(text) {
            lines.push(line.trim_end());
        }
    }
    lines
}

/// Behind a comment that says a type, there is code.
fn is_whole_comment(text: &str) -> bool {
    text.starts_with("/*") && text.find("*/") == Some(text.len() - 2)
}

/// The name that a line declares for the whole file, if it begins at its left margin.
fn declared(line: &str) -> Option<&str> {
    let line = line.strip_prefix("async ").unwrap_or(line);
    let rest =
        ["function ", "function* ", "const ", "let ", "class "].iter().find_map(|word| line.strip_prefix(word))?;
    let end = rest.find(|character: char| !is_of_name(character)).unwrap_or(rest.len());
    is_name(&rest[..end]).then_some(&rest[..end])
}

fn is_of_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '$')
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| is_of_name(first) && !first.is_ascii_digit()) && text.chars().all(is_of_name)
}

/// The line with the path of what is loaded later as it is served: all files are in one folder there. Also the path itself, if
/// it is a module's.
fn rewritten(line: &str, path: &str) -> Result<(String, Option<String>), String> {
    let mut line = line.to_owned();
    let mut later = None;
    for (before, after) in [("import('", "')"), ("new URL('", "', import.meta.url)")] {
        let Some((start, rest)) = line.split_once(before) else { continue };
        let Some((given, end)) = rest.split_once(after) else { continue };
        let target = resolved(path, given).ok_or("a path that isn't relative")?;
        line = format!("{start}{before}./{}{after}{end}", served_as(&target));
        later = target.ends_with(".js").then_some(target).filter(|target| !target.starts_with("vendor/"));
    }
    Ok((line, later))
}

/// The name of a file as it is served: that of its bundle.
pub fn served_as(path: &str) -> String {
    if path.ends_with(".js") {
        return format!("{}.js", bundle_of(path));
    }
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// The path within `app/` to which a relative one leads.
fn resolved(from: &str, relative: &str) -> Option<String> {
    if !relative.starts_with("./") && !relative.starts_with("../") {
        return None;
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in relative.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// A bundle in the making.
struct Joined<'m> {
    bundle: &'m str,
    modules: &'m BTreeMap<String, Module>,
    done: Vec<&'m str>,
    open: Vec<&'m str>,
    declared: BTreeMap<&'m str, &'m str>,
    imports: BTreeMap<String, BTreeSet<&'m str>>,
}

impl<'m> Joined<'m> {
    fn of(bundle: &'m str, modules: &'m BTreeMap<String, Module>) -> Result<Self, String> {
        let entry = entry_of(bundle, modules).ok_or_else(|| format!("app: the folder {bundle} has no {bundle}.js"))?;
        let (entry, _) = modules.get_key_value(&entry).ok_or("the entry is missing")?;
        let mut joined = Self {
            bundle,
            modules,
            done: Vec::new(),
            open: Vec::new(),
            declared: BTreeMap::new(),
            imports: BTreeMap::new(),
        };
        joined.add(entry)?;
        for path in modules.keys().filter(|path| bundle_of(path) == bundle) {
            // The main bundle also has what only pages import.
            if bundle != MAIN && !joined.done.contains(&path.as_str()) {
                return Err(format!("app/{path} is imported by nothing of its bundle"));
            }
            joined.add(path)?;
        }
        joined.refuse_shared_names()?;
        Ok(joined)
    }

    /// A name of a joined file is one for all of them, so what one declares another one can't import from elsewhere.
    fn refuse_shared_names(&self) -> Result<(), String> {
        let imported = self.imports.iter().flat_map(|(bundle, names)| names.iter().map(move |name| (bundle, *name)));
        let mut shared = imported.filter_map(|(bundle, name)| Some((bundle, name, self.declared.get(name)?)));
        shared.next().map_or(Ok(()), |(bundle, name, path)| {
            Err(format!("app/{path} declares {name}, which a file that it is joined with imports from {bundle}.js"))
        })
    }

    /// Adds a file behind all that it imports, as browsers evaluate modules.
    fn add(&mut self, path: &'m str) -> Result<(), String> {
        if self.done.contains(&path) {
            return Ok(());
        }
        if self.open.contains(&path) {
            return Err(format!("app/{path} imports itself by way of {:?}", self.open));
        }
        let module = self.modules.get(path).ok_or_else(|| format!("app/{path} doesn't exist"))?;
        if let Some(missing) = module.later.iter().find(|later| !self.modules.contains_key(*later)) {
            return Err(format!("app/{path} loads app/{missing}, which doesn't exist"));
        }
        self.open.push(path);
        for import in &module.imports {
            self.follow(import).map_err(|what| format!("app/{path}: {what}"))?;
        }
        self.open.pop();
        for name in &module.declared {
            if let Some(other) = self.declared.insert(name, path) {
                return Err(format!("app/{path} and app/{other} both declare {name}, and are joined"));
            }
        }
        self.done.push(path);
        Ok(())
    }

    fn follow(&mut self, import: &'m Import) -> Result<(), String> {
        if let Some(target) = self.modules.get(&import.from)
            && let Some(missing) = import.names.iter().find(|name| !target.exports.contains(*name))
        {
            return Err(format!("{} doesn't export {missing}", import.from));
        }
        let bundle = bundle_of(&import.from);
        if bundle == self.bundle {
            return if import.from == DRAWS { Ok(()) } else { self.add(&import.from) };
        }
        if import.is_passed_on {
            return Err(format!("{} is another bundle's, so its names can't be passed on", import.from));
        }
        if self.bundle == MAIN && !import.from.starts_with("vendor/") {
            return Err(format!("what every page needs can't wait for {}", import.from));
        }
        self.imports.entry(bundle.to_owned()).or_default().extend(import.names.iter().map(String::as_str));
        Ok(())
    }

    fn text(&self) -> String {
        let imports = self.imports.iter().map(|(bundle, names)| {
            let names: Vec<_> = names.iter().copied().collect();
            format!("import {{{}}} from './{bundle}.js';\n", names.join(","))
        });
        let bodies = self.done.iter().map(|path| self.modules[*path].body.clone());
        imports.chain(bodies).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(files: &[(&str, &str)]) -> Result<BTreeMap<String, String>, String> {
        let sources: Vec<_> =
            files.iter().map(|(path, text)| Source { path: (*path).into(), text: (*text).into() }).collect();
        join(&sources)
    }

    #[test]
    fn a_bundle_has_its_files_behind_what_they_import_and_no_comments() {
        let bundles = joined(&[
            (
                "main.js",
                "// Boots.\nimport { one } from './core/one.js';\nimport { html } from './vendor/preact.js';\none();\n",
            ),
            ("core/one.js", "/**\n * Does it.\n */\nexport function one() {\n  return html; // kept\n}\n"),
        ]);

        let text = "export function one() {\n  return html; // kept\n}\none();\n";
        assert_eq!(bundles.unwrap()["main"], text);
    }

    #[test]
    fn only_comments_are_taken_out() {
        let kept = |text: &str| without_comments(text).join("|");

        assert_eq!(kept("/** One. */\na();\n  // Two.\n/*\n * Three.\n */\n\nb();\n"), "a();|b();");
        let expected = "  /** @type {A} */ (a).b();|c(); /* d */|e(); // f";
        assert_eq!(kept("  /** @type {A} */ (a).b();\nc(); /* d */\ne(); // f"), expected);
        let expected = "/** @type {A} */ (a).b(/** @type {C} */ c);|/** @type {A} */ a; // */";
        assert_eq!(kept("/** @type {A} */ (a).b(/** @type {C} */ c);\n/** @type {A} */ a; // */"), expected);
    }

    #[test]
    fn types_within_code_are_taken_out() {
        assert_eq!(
            without_types("  const a = /** @type {A} */ (b).c(/** @type {import('./d.js').D} */ d); // e"),
            "  const a = (b).c(d); // e"
        );
        assert_eq!(without_types("f(); /** no type */ g('/** @');"), "f(); /** no type */ g('/** @');");
    }

    #[test]
    fn a_page_takes_what_it_shares_from_the_bundle_that_has_it() {
        let bundles = joined(&[
            ("main.js", "export const load = () => import('./pages/links/links.js');\n"),
            ("ui/button.js", "export function Button() {}\n"),
            (
                "pages/links/links.js",
                "import { html } from '../../vendor/preact.js';\nimport { Button } from '../../ui/button.js';\n\
                 import { row } from './row.js';\nrow(Button, html);\n",
            ),
            ("pages/links/row.js", "import {\n  Button,\n} from '../../ui/button.js';\nexport const row = Button;\n"),
        ]);

        let bundles = bundles.unwrap();
        assert!(bundles["main"].ends_with("export function Button() {}\n"), "no page has it of its own");
        assert!(bundles["main"].contains("import('./links.js')"), "{}", bundles["main"]);
        let text = "import {Button,html} from './main.js';\nexport const row = Button;\nrow(Button, html);\n";
        assert_eq!(bundles["links"], text);
    }

    #[test]
    fn what_breaks_a_rule_is_refused() {
        for (text, complaint) in [
            ("import other from './core/a.js';", "not `import"),
            ("import { a as b } from './core/a.js';", "not `import"),
            ("import { a } from 'preact';", "not `import"),
            ("import { a } from './core/a.js'", "without an end"),
            ("export { b } from './core/a.js';", "doesn't export b"),
            ("export { page } from './pages/links/links.js';", "can't be passed on"),
            ("import { a } from './core/a.js';\nimport('./pages/links/none.js');", "doesn't exist"),
            ("import { missing } from './core/a.js';", "doesn't export missing"),
            ("import { a } from './core/none.js';", "doesn't exist"),
            ("import { a } from './core/a.js';\nconst a = 1;", "both declare a"),
            ("import { a } from './core/a.js';\nasync function* a() {}", "both declare a"),
            ("import { a } from './core/a.js';\nexport default a;", "not an exported declaration"),
            ("import { a } from './core/a.js';\nexport { a };", "not `import"),
            ("import { a } from './core/a.js';\nimport('core/a.js');", "isn't relative"),
            ("import { page } from './pages/links/links.js';", "can't wait for"),
        ] {
            let error = joined(&[
                ("main.js", text),
                ("core/a.js", "export const a = 1;"),
                ("pages/links/links.js", "export const page = 1;"),
            ])
            .expect_err(text);
            assert!(error.contains(complaint), "{text}: {error}");
        }
    }

    #[test]
    fn a_name_that_a_page_declares_and_imports_from_elsewhere_is_refused() {
        let error = joined(&[
            ("main.js", "boot();\nfunction boot() {}\n"),
            ("core/a.js", "export const a = 1;"),
            ("pages/in/in.js", "import { a } from '../../core/a.js';\nimport { b } from './b.js';\nrun(a, b);"),
            ("pages/in/b.js", "const a = 2;\nexport const b = a;"),
        ])
        .unwrap_err();

        assert!(error.contains("pages/in/b.js declares a"), "{error}");
    }

    #[test]
    fn names_that_are_passed_on_are_exported_where_they_are_declared() {
        let bundles = joined(&[
            ("main.js", "boot();\nfunction boot() {}\n"),
            ("pages/in/in.js", "export { SignIn } from './sign-in.js';\n"),
            ("pages/in/sign-in.js", "export function SignIn() {}\n"),
        ]);

        assert_eq!(bundles.unwrap()["in"], "export function SignIn() {}\n");
    }

    #[test]
    fn a_circle_is_refused() {
        let error = joined(&[
            ("main.js", "import { a } from './core/a.js';"),
            ("core/a.js", "import { b } from './b.js';\nexport const a = 1;"),
            ("core/b.js", "import { a } from './a.js';\nexport const b = 1;"),
        ])
        .unwrap_err();
        assert!(error.contains("imports itself"), "{error}");
    }
}

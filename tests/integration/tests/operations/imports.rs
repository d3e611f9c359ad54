//! Files don't import each other in a circle, so that each can be read after those that it uses.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The path of a module within its crate, such as `["links", "item"]`.
type Module = Vec<String>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The source folders of all crates of the product.
fn crates() -> impl Iterator<Item = PathBuf> {
    let folders = ["shared", "functions"].into_iter().flat_map(|folder| fs::read_dir(root().join(folder)).unwrap());
    folders.map(|entry| entry.unwrap().path().join("src")).filter(|source| source.is_dir())
}

/// Each module of a crate and the text of its file, up to its tests.
fn modules(source: &Path) -> BTreeMap<Module, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![source.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let below = path.strip_prefix(source).unwrap().with_extension("");
            let mut module: Module = below.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
            module.retain(|part| !["mod", "lib", "main", "handler"].contains(&part.as_str()));
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            found.entry(module).or_insert_with(String::new).push_str(code);
        }
    }
    found
}

/// The paths of a `use`, without braces.
fn paths(tree: &str, before: &str, found: &mut Vec<String>) {
    let Some((head, rest)) = tree.split_once('{') else {
        found.push(format!("{before}{tree}"));
        return;
    };
    let (mut depth, mut item) = (0, String::new());
    for letter in rest.strip_suffix('}').unwrap_or(rest).chars().chain([',']) {
        match letter {
            ',' if depth == 0 => paths(&std::mem::take(&mut item), &format!("{before}{head}"), found),
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if letter != ',' || depth > 0 {
            item.push(letter);
        }
    }
}

/// The modules that a module imports from, but for those around it, whose names it has.
fn imports(module: &Module, code: &str, known: &BTreeMap<Module, String>) -> BTreeSet<Module> {
    let mut found = Vec::new();
    for tree in
        code.split("\nuse ").chain(code.split("\npub(super) use ")).skip(1).filter_map(|rest| rest.split(';').next())
    {
        paths(&tree.split_whitespace().collect::<String>(), "", &mut found);
    }
    let absolute = |path: String| -> Option<Module> {
        let parts: Module = path.split("::").map(str::to_owned).collect();
        match parts[0].as_str() {
            "crate" => Some(parts[1..].to_vec()),
            "super" => Some([&module[..module.len().saturating_sub(1)], &parts[1..]].concat()),
            _ => None,
        }
    };
    let imported = found.into_iter().filter_map(absolute).filter_map(|path| {
        let modules = (0..=path.len()).rev().map(|length| path[..length].to_vec());
        modules.into_iter().find(|path| known.contains_key(path))
    });
    imported.filter(|other| !module.starts_with(other)).collect()
}

/// A circle that goes on from the last of these modules.
fn circle(
    way: &[Module],
    graph: &BTreeMap<Module, BTreeSet<Module>>,
    done: &mut BTreeSet<Module>,
) -> Option<Vec<Module>> {
    let last = way.last()?;
    if let Some(begin) = way[..way.len() - 1].iter().position(|module| module == last) {
        return Some(way[begin..].to_vec());
    }
    if done.contains(last) {
        return None;
    }
    let found = graph[last].iter().find_map(|next| circle(&[way, std::slice::from_ref(next)].concat(), graph, done));
    done.insert(last.clone());
    found
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    for source in crates() {
        let known = modules(&source);
        let graph: BTreeMap<_, _> =
            known.iter().map(|(module, code)| (module.clone(), imports(module, code, &known))).collect();
        assert!(known.len() < 8 || graph.values().any(|imports| !imports.is_empty()), "{}", source.display());

        let mut done = BTreeSet::new();
        let found = graph.keys().find_map(|module| circle(std::slice::from_ref(module), &graph, &mut done));

        assert_eq!(found, None, "files of {} import each other", source.display());
    }
}

// What of a page has no room: called in the page, it gives a line for each fault.
async () => {
  const found = [];
  const said = (element) => `<${element.tagName.toLowerCase()} class="${element.getAttribute('class') ?? ''}"> ${(element.getAttribute('aria-label') ?? element.innerText ?? '').slice(0, 60).replace(/\s+/g, ' ')}`;
  const wide = document.documentElement.clientWidth;
  // What lies over the page may cover it.
  const over = document.querySelectorAll('dialog:modal, [role=menu], .popover');
  const scope = over[over.length - 1] ?? document.body;
  const elements = [...scope.querySelectorAll('*')].filter((element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true }));
  // What only screen readers get is cut away.
  const forEyes = (element) => {
    for (let one = element; one && one !== scope; one = one.parentElement) if (getComputedStyle(one).clipPath !== 'none') return false;
    return !element.closest('.skip, svg, option');
  };
  const cuts = (element) => getComputedStyle(element).overflowX !== 'visible' || getComputedStyle(element).overflowY !== 'visible';
  const floats = (element) => {
    for (let one = element; one && one !== scope; one = one.parentElement) if (['fixed', 'sticky'].includes(getComputedStyle(one).position)) return one;
    return null;
  };

  // What of a box can be seen without scrolling what it is in.
  const seen = (element, rect) => {
    let { left, right, top, bottom } = rect;
    for (let box = element.parentElement; box && box !== scope.parentElement; box = box.parentElement) {
      if (!cuts(box)) continue;
      const edge = box.getBoundingClientRect();
      [left, right, top, bottom] = [Math.max(left, edge.left), Math.min(right, edge.right), Math.max(top, edge.top), Math.min(bottom, edge.bottom)];
    }
    return { left, right, top, bottom };
  };
  const meets = (a, b, height) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > height;

  // What lies over the page, but beyond its edge.
  const { left, right } = scope.getBoundingClientRect();
  if (scope.matches('dialog') && (left < 0 || right > innerWidth)) found.push(`outside of the window: ${said(scope)}`);

  // What needs scrolling to the side. Tabs do on a phone.
  if (document.documentElement.scrollWidth > wide) found.push(`the page is ${document.documentElement.scrollWidth} wide where there are ${wide}`);
  for (const element of [scope, ...elements]) {
    if (!forEyes(element) || element.matches('input, textarea, select, pre, .account-views .choice')) continue;
    if (['auto', 'scroll'].includes(getComputedStyle(element).overflowX) && element.scrollWidth > element.clientWidth + 1) found.push(`scrolls sideways: ${said(element)} (${element.scrollWidth} in ${element.clientWidth})`);
  }

  // Texts that are cut, without dots and the whole of it elsewhere.
  const texts = [];
  for (const element of elements) {
    if (!forEyes(element)) continue;
    for (const node of element.childNodes) {
      if (node.nodeType !== Node.TEXT_NODE || !node.data.trim()) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const rects = [...range.getClientRects()].filter(({ width, height }) => width > 1 && height > 1);
      let isCut = false;
      for (let box = element; box && box !== scope.parentElement && !isCut; box = box.parentElement) {
        if (!cuts(box)) continue;
        const style = getComputedStyle(box);
        const { left, right, top, bottom } = box.getBoundingClientRect();
        const beyond = rects.some((rect) => (style.overflowX !== 'visible' && (rect.right > right + 1 || rect.left < left - 1)) || (style.overflowY !== 'visible' && (rect.bottom > bottom + 2 || rect.top < top - 2)));
        if (!beyond) continue;
        // It can be scrolled to.
        if (['auto', 'scroll'].includes(style.overflowY)) break;
        isCut = true;
        const word = (text) => text.replace(/\s+/g, ' ').trim();
        let whole = false;
        for (let one = element; one && one !== scope; one = one.parentElement) whole ||= [one.getAttribute('title'), one.ariaLabel].some((text) => text && word(text).includes(word(node.data)));
        if (style.textOverflow !== 'ellipsis') found.push(`cut off: “${node.data.trim().slice(0, 60)}” in ${said(box)}`);
        else if (!whole) found.push(`cut with dots, and nowhere whole: “${node.data.trim().slice(0, 60)}” in ${said(box)}`);
        // A sentence or a control's own words never need be cut, only what others have written.
        else if (box.closest('.button, .choice, .rail-item, .field > label, h2, .hint')) found.push(`a label that is cut: “${node.data.trim().slice(0, 60)}” in ${said(box)}`);
      }
      const isOut = rects.some((rect) => rect.right > wide + 1 || rect.left < -1);
      if (isOut && !isCut && !floats(element) && !element.closest('.account-views .choice')) found.push(`outside of the window: “${node.data.trim().slice(0, 60)}” in ${said(element)}`);
      if (!isCut) texts.push({ element, rects: rects.map((rect) => seen(element, rect)), words: node.data.trim().slice(0, 40), float: floats(element) });
    }
  }

  // What a field says while it is empty.
  const pen = document.createElement('canvas').getContext('2d');
  for (const element of elements.filter((one) => one.matches('input[placeholder]') && !one.value)) {
    const style = getComputedStyle(element);
    pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const room = element.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    if (pen.measureText(element.placeholder).width > room + 1) found.push(`cut off: the placeholder “${element.placeholder}” (${Math.round(room)} pixels)`);
  }

  // Texts over each other.
  for (let at = 0; at < texts.length; at += 1) {
    for (let next = at + 1; next < texts.length; next += 1) {
      const [one, other] = [texts[at], texts[next]];
      if (one.float !== other.float) continue;
      if (one.rects.some((a) => other.rects.some((b) => meets(a, b, 5)))) found.push(`over each other: “${one.words}” and “${other.words}”`);
    }
  }

  // Controls over each other, out of reach, or hidden by something.
  const controls = elements.filter((element) => element.matches('a[href], button, input, select, textarea, summary, [role=option]') && forEyes(element) && element.tabIndex > -2);
  const boxes = controls.map((element) => ({ element, rect: seen(element, element.getBoundingClientRect()), float: floats(element) }));
  for (let at = 0; at < boxes.length; at += 1) {
    for (let next = at + 1; next < boxes.length; next += 1) {
      const [one, other] = [boxes[at], boxes[next]];
      if (one.float !== other.float || one.element.contains(other.element) || other.element.contains(one.element)) continue;
      // What shows a password stands in its field, which has room for it.
      if (other.element.matches('.reveal') && other.element.previousElementSibling === one.element) continue;
      if (meets(one.rect, other.rect, 2)) found.push(`controls over each other: ${said(one.element)} and ${said(other.element)}`);
    }
  }
  for (const element of controls) {
    element.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const words = said(element);
    if (left < -1 || right > wide + 1 || bottom > innerHeight + 1 || top < -1) {
      if (bottom - top < innerHeight) found.push(`out of reach: ${words} (${Math.round(left)}–${Math.round(right)} of ${wide}, ${Math.round(top)}–${Math.round(bottom)} of ${innerHeight})`);
      continue;
    }
    const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    if (hit && !element.contains(hit) && !hit.contains(element) && !(element.labels && [...element.labels].some((label) => label.contains(hit)))) found.push(`hidden by ${said(hit)}: ${words}`);
  }
  scrollTo(0, 0);
  return [...new Set(found)];
}

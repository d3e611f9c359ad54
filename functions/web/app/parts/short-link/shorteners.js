// The shorteners whose links people paste most. Others can be resolved as well, but nobody is offered it.

const HOSTS = `
  aka.ms amzn.to bit.do bit.ly bitly.com buff.ly clck.ru cutt.ly dlvr.it dub.link dub.sh fb.me goo.gl ht.ly is.gd j.mp kutt.it lnkd.in
  ow.ly qrco.de rb.gy rebrand.ly s.id short.gy short.io shorturl.at snip.ly spoo.me t.co t.ly tiny.cc tinyurl.com tr.im trib.al urlz.fr
  v.gd vk.cc wp.me x.gd
`.trim().split(/\s+/);

/** Whether a URL is one of a known shortener, or below it, as those of short.gy are. @param {string} url */
export function isShort(url) {
  const { hostname, pathname } = new URL(url);
  return pathname !== '/' && HOSTS.some((host) => hostname === host || hostname.endsWith(`.${host}`));
}

// The tags of an HTML page, as a browser's tokenizer sees them. Not HTMLRewriter: for each end tag without a start it
// goes through all open elements, so that 700 KB of a hostile page held the whole process for 20 s; this takes 10 ms.

export interface Tag {
  name: string
  /** `</name>` */
  end: boolean
  /** Names in lower case, values without their character references. */
  attributes: Map<string, string>
}

/** What stands between their tags is text, whatever it looks like (`noscript`: where scripts run, as here). */
const TEXT_ONLY = /^(script|style|textarea|title|xmp|iframe|noembed|noframes|noscript)$/

const OPENING = /<(?:(\/?)([a-z][^\s/>]*)|(!--)|[!?/])/gi
const COMMENT_END = /--!?>/g
const ATTRIBUTE = /[\s/]*(?:([^\s/>][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"'][^\s>]*)?))?)?/y

/** @returns each tag in order; what is in comments, scripts and other text is none */
export function* readTags(html: string): Generator<Tag> {
  let at = 0
  // Inside of pictures and formulas `title` and `style` are ordinary, and `/>` does end an element.
  let foreign = 0
  for (;;) {
    OPENING.lastIndex = at
    const opening = OPENING.exec(html)
    if (!opening) return
    const [, slash, written, comment] = opening
    at = OPENING.lastIndex
    if (written === undefined) {
      at = comment ? endOfComment(html, at) : after(html, '>', at)
      continue
    }
    const attributes = new Map<string, string>()
    const close = readAttributes(html, at, attributes)
    // A tag that the page ends in is not one.
    if (close < 0) return
    at = close + 1
    const name = written.toLowerCase()
    const end = slash === '/'
    yield { name, end, attributes }
    if (/^(svg|math)$/.test(name))
      foreign = Math.max(0, foreign + (end ? -1 : html[close - 1] === '/' ? 0 : 1))
    if (name === 'plaintext' && !end) return
    if (!end && foreign === 0 && TEXT_ONLY.test(name)) at = endOfText(html, name, at)
  }
}

/** @returns the place of the tag's `>`, or -1 */
function readAttributes(html: string, from: number, into: Map<string, string>): number {
  let at = from
  while (at < html.length) {
    ATTRIBUTE.lastIndex = at
    const found = ATTRIBUTE.exec(html)
    const [, name, double, single, bare] = found ?? []
    if (name !== undefined) {
      const key = name.toLowerCase()
      // Of two with one name, browsers take the first.
      if (!into.has(key)) into.set(key, decode(double ?? single ?? bare ?? ''))
    }
    const next = ATTRIBUTE.lastIndex
    if (html[next] === '>') return next
    // A quote that is never closed: to the browser, the rest of the page is its value.
    if (next === at || (html[next - 1] === '=' && /["']/.test(html[next] ?? ''))) return -1
    at = next
  }
  return -1
}

function endOfComment(html: string, from: number): number {
  // `<!-->` and `<!--->` are whole comments.
  const short = /-?>/y
  short.lastIndex = from
  if (short.test(html)) return short.lastIndex
  COMMENT_END.lastIndex = from
  return COMMENT_END.test(html) ? COMMENT_END.lastIndex : html.length
}

function endOfText(html: string, name: string, from: number): number {
  const end = new RegExp(`</${name}(?=[\\s/>])`, 'gi')
  end.lastIndex = from
  return end.exec(html)?.index ?? html.length
}

function after(html: string, mark: string, from: number): number {
  const found = html.indexOf(mark, from)
  return found < 0 ? html.length : found + 1
}

// Those that stand in addresses, policies and names. The others (2,231 in all) are letters and signs of text.
const NAMED: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  sol: '/',
  colon: ':',
  period: '.',
  quest: '?',
  equals: '=',
  num: '#',
  lowbar: '_',
  semi: ';',
  comma: ',',
  ast: '*',
  Tab: '\t',
  NewLine: '\n',
}

/** Templates write `&#39;self&#39;`, and mail addresses are hidden as numbers. */
const decode = (text: string) =>
  text.includes('&')
    ? text.replace(/&(?:#x([0-9a-f]{1,8})|#(\d{1,8})|([a-z]{2,8}));?/gi, (whole, hex, decimal, name) => {
        if (name !== undefined) return Object.hasOwn(NAMED, name) ? (NAMED[name] as string) : whole
        const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
        const real = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
        return real ? String.fromCodePoint(code) : '\ufffd'
      })
    : text

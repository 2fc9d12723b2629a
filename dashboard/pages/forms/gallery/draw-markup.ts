// Draws the HTML that the gallery writes into another document, without its scripts. The policy of the dashboard lets no
// text become markup, so that the elements are made one by one.

/** A tag with its attributes, or the text before the next one. */
const PART = /<!--.*?-->|<(\/?)([a-z][a-z\d]*)((?:"[^"]*"|[^">])*)>|[^<]+/gs
const ATTRIBUTE = /([\w:-]+)(?:="([^"]*)")?/g
const VOID = ['input', 'br']
const ENTITIES: Record<string, string> = {
  '&amp;': '&',
  '&quot;': '"',
  '&lt;': '<',
  '&gt;': '>',
  '&#123;': '{',
  '&#125;': '}',
}

const decode = (text: string) =>
  text.replace(/&(?:amp|quot|lt|gt|#12[35]);/g, (entity) => ENTITIES[entity] ?? '')

function createElement(page: Document, name: string, attributes: string): HTMLElement {
  const element = page.createElement(name)
  for (const [, key = '', value = ''] of attributes.matchAll(ATTRIBUTE)) {
    // An attribute `style` is against the policy; the same rules set by a script are not.
    if (key === 'style') element.style.cssText = decode(value)
    else element.setAttribute(key, decode(value))
  }
  return element
}

/** @param styles how it looks around the form */
export function drawMarkup(page: Document, html: string, styles: string): void {
  const body = page.createElement('body')
  let parent: HTMLElement = body
  let styleRules = styles
  let skipped: string | undefined
  for (const [part, slash, name, attributes = ''] of html.matchAll(PART)) {
    if (skipped !== undefined) {
      if (slash === '/' && name === skipped) skipped = undefined
      else if (skipped === 'style') styleRules += part
    } else if (name === undefined) {
      if (!part.startsWith('<!--')) parent.append(decode(part))
    } else if (slash === '/') parent = parent.parentElement ?? body
    else if (name === 'style' || name === 'script') skipped = name
    else {
      const element = createElement(page, name, attributes)
      parent.append(element)
      if (!VOID.includes(name)) parent = element
    }
  }
  page.documentElement.lang = document.documentElement.lang
  page.body.replaceWith(body)
  const sheet = new (page.defaultView as unknown as typeof globalThis).CSSStyleSheet()
  sheet.replaceSync(styleRules)
  page.adoptedStyleSheets = [sheet]
}

// The tags of an HTML page as a browser's tokenizer sees them: parse5's tokenizer, and the few states of it that the
// HTML standard has the tree builder set (https://html.spec.whatwg.org/multipage/parsing.html#parsing-main-inbody).
// No tree is built, and HTMLRewriter or htmlparser2's parser are not used: each goes through all open elements for an
// end tag, which takes a hostile page of 900 KB tens of seconds. The tokenizer's time grows with the page's size alone.

import { type Token, Tokenizer, TokenizerMode } from 'parse5'

export interface Tag {
  name: string
  /** `</name>` */
  end: boolean
  /** Names in lower case, values without their character references. */
  attributes: Map<string, string>
}

/** The content of these elements is text, whatever it looks like (`noscript`: where scripts run, as here). */
const TEXT_MODES = new Map([
  ['title', TokenizerMode.RCDATA],
  ['textarea', TokenizerMode.RCDATA],
  ['style', TokenizerMode.RAWTEXT],
  ['xmp', TokenizerMode.RAWTEXT],
  ['iframe', TokenizerMode.RAWTEXT],
  ['noembed', TokenizerMode.RAWTEXT],
  ['noframes', TokenizerMode.RAWTEXT],
  ['noscript', TokenizerMode.RAWTEXT],
  ['script', TokenizerMode.SCRIPT_DATA],
  ['plaintext', TokenizerMode.PLAINTEXT],
])

/** @param onTag gets each tag in order; comments, scripts and other text have none */
export function readTags(html: string, onTag: (tag: Tag) => void): void {
  // Inside of pictures and formulas `title` and `style` are ordinary elements, and `/>` does end an element.
  let foreign = 0
  const ignore = () => {}

  function enterOrLeave({ tagName, selfClosing }: Token.TagToken, end: boolean) {
    if (tagName === 'svg' || tagName === 'math') {
      if (end) foreign = Math.max(0, foreign - 1)
      else if (!selfClosing) foreign++
    }
    tokenizer.inForeignNode = foreign > 0
    const mode = end || foreign > 0 ? undefined : TEXT_MODES.get(tagName)
    if (mode !== undefined) tokenizer.state = mode
  }

  function read(token: Token.TagToken, end: boolean) {
    const attributes = new Map(token.attrs.map(({ name, value }) => [name, value]))
    onTag({ name: token.tagName, end, attributes })
    enterOrLeave(token, end)
  }

  const tokenizer = new Tokenizer(
    {},
    {
      onStartTag: (token) => read(token, false),
      onEndTag: (token) => read(token, true),
      onCharacter: ignore,
      onWhitespaceCharacter: ignore,
      onNullCharacter: ignore,
      onComment: ignore,
      onDoctype: ignore,
      onEof: ignore,
    },
  )
  tokenizer.write(html, true)
}

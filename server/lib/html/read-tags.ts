// Reads the tags of an HTML page as a browser's tokenizer does. It uses parse5's tokenizer, and sets the tokenizer
// states that the HTML standard leaves to the tree builder
// (https://html.spec.whatwg.org/multipage/parsing.html#parsing-main-inbody). It builds no tree, and uses neither
// HTMLRewriter nor htmlparser2's parser: each searches all open elements at an end tag, which takes tens of seconds for
// a hostile page of 900 KB. The tokenizer's time grows only with the size of the page. It gets the page in slices, and
// redirects run in between.

import { type Token, Tokenizer, TokenizerMode } from 'parse5'
import { createPacer } from '../concurrency/next-turn.ts'

export interface Tag {
  name: string
  /** It is an end tag: `</name>`. */
  end: boolean
  /** Values by name. Names are in lower case, and character references are decoded. */
  attributes: Map<string, string>
}

/** The content of these elements is text, even where it looks like tags. `noscript` is one where scripts run. */
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

/** The tags of a slice take at most 3 ms. */
const SLICE_LENGTH = 8 * 1024
/** Longer values are cut: no address, style or policy that browsers heed is longer. */
const VALUE_MAX = 16 * 1024
/** Later attributes of an element are left out: no real page has more. A map of 80,000 takes 30 ms in one turn. */
const ATTRIBUTES_MAX = 1_000

interface ReadOptions {
  /** Gets the text between tags, in pieces. */
  onText?: (text: string) => void
  sliceLength?: number
}

/** @param onTag gets each tag in order. Comments, scripts and other text contain no tags. */
export async function readTags(
  html: string,
  onTag: (tag: Tag) => void,
  { onText = () => {}, sliceLength = SLICE_LENGTH }: ReadOptions = {},
): Promise<void> {
  // How many `svg` and `math` elements are open. In them `title` and `style` are ordinary elements, and `/>` ends an
  // element.
  let foreignDepth = 0
  const ignore = () => {}

  function updateState({ tagName, selfClosing }: Token.TagToken, end: boolean) {
    if (tagName === 'svg' || tagName === 'math') {
      if (end) foreignDepth = Math.max(0, foreignDepth - 1)
      else if (!selfClosing) foreignDepth++
    }
    tokenizer.inForeignNode = foreignDepth > 0
    const mode = end || foreignDepth > 0 ? undefined : TEXT_MODES.get(tagName)
    if (mode !== undefined) tokenizer.state = mode
  }

  function handleTag(token: Token.TagToken, end: boolean) {
    const attributes = new Map(
      token.attrs.slice(0, ATTRIBUTES_MAX).map(({ name, value }) => [name, value.slice(0, VALUE_MAX)]),
    )
    onTag({ name: token.tagName, end, attributes })
    updateState(token, end)
  }

  const tokenizer = new Tokenizer(
    {},
    {
      onStartTag: (token) => handleTag(token, false),
      onEndTag: (token) => handleTag(token, true),
      onCharacter: ({ chars }) => onText(chars),
      onWhitespaceCharacter: ({ chars }) => onText(chars),
      onNullCharacter: ignore,
      onComment: ignore,
      onDoctype: ignore,
      onEof: ignore,
    },
  )
  const pace = createPacer()
  for (let at = 0; ; at += sliceLength) {
    const isLast = at + sliceLength >= html.length
    tokenizer.write(html.slice(at, at + sliceLength), isLast)
    if (isLast) return
    await pace()
  }
}

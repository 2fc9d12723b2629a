// Decides which strings of the dashboard's code are texts for people.

/** Attributes and properties that people always read. */
export const TEXT_NAMES =
  /^(?:label|title|placeholder|hint|description|summary|message|text|confirmLabel|action|aria-label|aria-description|aria-roledescription|aria-valuetext|alt)$/

/** Attributes and properties that people never read. */
export const CODE_NAMES =
  /^(?:className|class|style|d|viewBox|points|transform|id|key|type|role|rel|href|src|autoComplete|autoCapitalize|inputMode|headers|queryKey|mutationKey|data-.*|aria-(?:live|controls|labelledby|describedby|haspopup|current|sort|orientation))$/

/** Functions that do not show their arguments. */
export const CODE_CALLS =
  /^(?:classNames|querySelector|querySelectorAll|closest|matches|matchMedia|addEventListener|removeEventListener|getAttribute|setAttribute|removeAttribute|startsWith|endsWith|includes|indexOf|split|replace|replaceAll|RegExp|test|getElementById|createElement|createElementNS|DateTimeFormat|NumberFormat|DisplayNames|ListFormat|getItem|setItem|Event|CustomEvent|KeyboardEvent|useParams|useSearch|lazyPart|has|get|append|set)$/

/** Names of keys and of headers, and other words that programs read. */
const CODE_WORDS =
  /^(?:Escape|Enter|Tab|Home|End|Backspace|Delete|Space|Control|Shift|Alt|Meta|Page(?:Up|Down)|Arrow\w+|Towpath)$/

/** Texts that are the same in every language: addresses, names of fields, pieces of code. */
const NEUTRAL =
  /\b(?:https?|mailto|tel|sms):\S*|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|example|local)\b(?:\/\S*)?|\b[\w]+[_=][\w=-]*|\[[\w-]+\]\S*|\{\d+\}\/\w+|\b(?:[a-z]+\.)+(?=\{\d+\})|^(?:[a-z]+\.)+$|\bTowpath\b|\\\{\\\{[^}]*\\\}\\\}|\\.|<\/?\d+\/?>|\{\d+\}/g

const stripNeutral = (text: string) => text.replace(NEUTRAL, ' ')

const LETTERS = /\p{L}{2,}|(?<!\p{L})[aAI](?!\p{L})|e\.g\./u

/** In a place where everything is read by people: has at least one word. */
export const readsAsText = (text: string) => LETTERS.test(stripNeutral(text))

const FUNCTION_WORDS =
  /(?:^|[\s“(])(?:a|an|the|is|are|was|were|to|of|in|no|not|by|with|without|for|and|or|your|you|we|it|on|from|this|that|has|have|can|can’t|at|per|until|after|before|ago|more|than|all|any)(?=[\s.,:;?!”)…]|$)/

/** Words beside a placeholder, such as `{0} deleted`. Names of classes have hyphens. */
const PLAIN_WORDS = /^\p{L}[\p{Ll}’]*[!?…]*(?:\s+\p{L}[\p{Ll}’]*[!?…]*)*$/u

/** In any other place: a word with a capital letter, or several words that include a word of grammar. */
export function looksLikeText(text: string): boolean {
  const plain = stripNeutral(text).trim()
  if (!LETTERS.test(plain) || CODE_WORDS.test(plain)) return false
  if (/^\p{Lu}\p{Ll}+$/u.test(plain)) return true
  // A list of elements or of codes, or a function of CSS.
  if (/^[\w-]+\(/.test(plain)) return false
  if (/^\w+(?:, \w+)+$/.test(plain) && !/[A-Z][a-z]/.test(plain)) return false
  if (!/\s|“/.test(text.trim())) return /^\p{L}\p{Ll}+[….?!]$/u.test(plain)
  if (
    /\{\d+\}/.test(text) &&
    PLAIN_WORDS.test(plain.replace(/[“”(),.:;·]/g, ' ').trim()) &&
    /\p{Ll}{3}/u.test(plain)
  )
    return true
  if (/[[\];]|\b[\w-]+:[\w-]|\w--?\w+-|\w! |\w!$/.test(plain) && !/\p{Ll}[.?…]$/u.test(plain)) return false
  const startsLikeText = /^(?:\d+ |[“(])?(?:\p{Lu}[\p{Ll}’]*|\p{Lu}{2,}|i\p{Lu}+)[\s,.:]/u.test(plain)
  if (startsLikeText) return /\p{Ll}{2}/u.test(plain)
  return FUNCTION_WORDS.test(plain) || /\p{Ll}{2}[….?!]$/u.test(plain)
}

/** Splits off the white space around a text. */
export function trimKey(text: string) {
  const key = text.trim()
  const before = text.slice(0, text.indexOf(key))
  return { before, key, after: text.slice(before.length + key.length) }
}

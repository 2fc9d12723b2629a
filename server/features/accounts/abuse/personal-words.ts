// Finds passwords that are little more than what everybody knows about the person: the address, the name, and the name
// of the site (NIST SP 800-63B §3.1.1.2: context-specific words).

export interface PasswordOwner {
  email: string
  name: string
  /** `https://go.example` */
  origin: string
}

const PRODUCT = 'towpath'
/** A shorter word is in many passwords by chance. */
const WORD_MIN = 4
/** A password with at least this many other letters and digits may have the words too. */
const REST_MIN = 8

const listParts = (text: string) => text.split(/[^\p{L}\p{N}]+/u)

/** The longest first, so that `ada.lovelace` is removed before `lovelace`. */
function listWords({ email, name, origin }: PasswordOwner): string[] {
  const { hostname } = new URL(origin)
  const [local = '', domain = ''] = email.split('@')
  const joined = [local, domain, name, hostname].map(toLettersAndDigits)
  const parts = [local, domain.replace(/\.[^.]*$/, ''), name, hostname.replace(/\.[^.]*$/, '')].flatMap(
    listParts,
  )
  const words = [...joined, ...parts, PRODUCT].map((word) => word.toLowerCase())
  return [...new Set(words)].filter((word) => word.length >= WORD_MIN).sort((a, b) => b.length - a.length)
}

const toLettersAndDigits = (text: string) => text.replace(/[^\p{L}\p{N}]+/gu, '')

export function isPersonalPassword(password: string, owner: PasswordOwner): boolean {
  const text = toLettersAndDigits(password.toLowerCase())
  let rest = text
  for (const word of listWords(owner)) rest = rest.replaceAll(word, '')
  return rest !== text && [...rest].length < REST_MIN
}

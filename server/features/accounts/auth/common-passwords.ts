// Finds the most common passwords: those of a list, the words below, and both with a few characters around them, as most
// leaked passwords of ten characters or more are.

const WORDS = new Set(
  `password passwort passphrase motdepasse contrasena contraseña wachtwoord parola haslo senha qwerty qwertyuiop
  qwertz qwertzuiop azerty azertyuiop asdfgh asdfghjkl zxcvbn zxcvbnm yxcvbnm letmein letmeinnow welcome
  welcomehome willkommen bienvenue admin administrator root toor guest default changeme changethis secret topsecret
  login master superman batman spiderman starwars pokemon dragon monkey football baseball basketball soccer hockey
  liverpool chelsea arsenal barcelona realmadrid juventus iloveyou iloveyouso loveyou jetaime teamo sunshine princess
  shadow michael jordan jennifer charlie daniel jessica ashley computer internet trustno whatever freedom flower
  summer winter spring autumn hello helloworld hellohello test testing testtest testpassword tester user username
  mypassword mypass newpassword passwordpassword adminadmin qwertyqwerty abcdef abcdefg abcdefgh abcdefghij
  abcdefghijk abcabc abcabcabc correcthorsebatterystaple opensesame blahblah blink fuckyou fuckoff google facebook
  instagram linkedin twitter youtube samsung apple iphone windows microsoft linux ubuntu docker postgres mysql
  database server towpath dashboard company business marketing`.split(/\s+/),
)

const LOOKALIKES: Record<string, string> = {
  '@': 'a',
  '4': 'a',
  '3': 'e',
  '1': 'i',
  '!': 'i',
  '0': 'o',
  $: 's',
  '5': 's',
  '7': 't',
}

const ROWS = [
  '01234567890123456789',
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiopasdfghjklzxcvbnm',
  '1q2w3e4r5t6y7u8i9o0p',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm',
  'qazwsxedcrfvtgbyhnujmikolp',
]

/** @param listed more common passwords, in lower case */
export function isCommonPassword(password: string, listed: ReadonlySet<string> = WORDS): boolean {
  const lower = password.toLowerCase()
  return isCommonWord(lower, listed) || isRepeated(lower) || isKeyboardRow(lower)
}

/** A common word with other characters around it or in place of letters, such as `Password123!` or `p@ssw0rd2026`. */
function isCommonWord(lower: string, listed: ReadonlySet<string>): boolean {
  const trimmed = lower.replace(/^[^\p{L}@$]+|[^\p{L}@$]+$/gu, '')
  const decoded = [...lower].map((letter) => LOOKALIKES[letter] ?? letter).join('')
  const decodedTrimmed = [...trimmed].map((letter) => LOOKALIKES[letter] ?? letter).join('')
  return [lower, trimmed, decoded, decodedTrimmed].some((text) => {
    const word = text.replaceAll(/[\s_.-]/g, '')
    return WORDS.has(word) || listed.has(text) || listed.has(word)
  })
}

/** One to four characters again and again, such as `aaaaaaaaaa`, `1212121212` or `abcabcabcabc`. */
const isRepeated = (lower: string) =>
  /^(.{1,4}?)\1+.{0,3}$/u.test(lower) && /^(.{1,4}?)(?:\1){2,}/u.test(lower)

/** Characters in the order of a keyboard, the digits or the alphabet, forwards or backwards. */
function isKeyboardRow(lower: string): boolean {
  const backwards = [...lower].reverse().join('')
  return ROWS.some((row) => row.includes(lower) || row.includes(backwards))
}

// A browser's name for people: enough to tell one's own devices apart.

const BROWSERS: [RegExp, string][] = [
  [/Edg\w*\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/Chrome\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
]
const SYSTEMS: [RegExp, string][] = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
]

const named = (names: [RegExp, string][], text: string) => names.find(([pattern]) => pattern.test(text))?.[1]

export function browserOf(userAgent: string | null): string {
  const text = userAgent ?? ''
  const [browser, system] = [named(BROWSERS, text), named(SYSTEMS, text)]
  return [browser ?? 'Another program', system].filter(Boolean).join(' on ')
}

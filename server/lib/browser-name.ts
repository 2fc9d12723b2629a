// Describes a user agent, such as `Firefox on macOS`, so that people recognize their devices.

const BROWSERS: [RegExp, string][] = [
  [/Edg(?:e|A|iOS)?\//, 'Edge'],
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

const findName = (names: [RegExp, string][], text: string) =>
  names.find(([pattern]) => pattern.test(text))?.[1]

export function describeBrowser(userAgent: string | null): string {
  const text = userAgent ?? ''
  const [browser, system] = [findName(BROWSERS, text), findName(SYSTEMS, text)]
  return [browser ?? 'Unknown browser', system].filter(Boolean).join(' on ')
}

import { describe, expect, test } from 'bun:test'
import { parseRobots } from './robots-rules.ts'

const OWN = 'User-agent: towpath\n'

/** robots.txt, a path, and whether it may be asked for. */
const CASES: [text: string, path: string, allowed: boolean][] = [
  ['', '/a', true],
  ['<html>Not found</html>', '/a', true],
  ['User-agent: *\nDisallow: /', '/a', false],
  ['user-AGENT : *\ndisallow : /private # secret', '/private/x', false],
  ['User-agent: *\nDisallow:', '/a', true],
  ['Disallow: /', '/a', true],
  ['User-agent: other\nDisallow: /', '/a', true],
  // A group of our own replaces those for everybody, even an empty one.
  [`User-agent: *\nDisallow: /\n\n${OWN}Disallow:`, '/a', true],
  [`${OWN}\nUser-agent: *\nDisallow: /`, '/a', false],
  [`User-agent: *\nDisallow: /\n${OWN}Disallow: /b`, '/a', true],
  ['User-agent: Towpath/2.0\nDisallow: /', '/a', false],
  ['User-agent: towpath-other\nDisallow: /', '/a', true],
  // Several agents share a group, and several groups of one agent are one.
  ['User-agent: a\nUser-agent: TOWPATH\nDisallow: /x', '/x', false],
  [`${OWN}Disallow: /x\nUser-agent: b\nDisallow: /\n${OWN}Disallow: /y`, '/y', false],
  // Other lines do not end a group.
  ['User-agent: *\nSitemap: https://example.com/map\nCrawl-delay: 5\nDisallow: /x', '/x', false],
  // The longest match decides, and Allow wins a draw.
  [`${OWN}Disallow: /\nAllow: /open`, '/open/a', true],
  [`${OWN}Allow: /open\nDisallow: /open/no`, '/open/no/a', false],
  [`${OWN}Disallow: /a\nAllow: /a`, '/a', true],
  // Wildcards.
  [`${OWN}Disallow: /*.pdf$`, '/x/y.pdf', false],
  [`${OWN}Disallow: /*.pdf$`, '/x/y.pdf?z', true],
  [`${OWN}Disallow: /*?`, '/x?y=1', false],
  [`${OWN}Disallow: /a*b*c`, '/a-c-b', true],
  [`${OWN}Disallow: /a$`, '/ab', true],
  [`${OWN}Disallow: *`, '/anything', false],
  [`${OWN}Disallow: /a*a$`, '/a', true],
  // Encodings.
  [`${OWN}Disallow: /caf%C3%A9`, '/café', false],
  [`${OWN}Disallow: /café`, '/caf%c3%a9', false],
  [`${OWN}Disallow: /a%2Fb`, '/a/b', true],
  ['\ufeffUser-agent: *\r\nDisallow: /x\r\n', '/x', false],
  [`User-agent: *\rDisallow: /x`, '/x', false],
]

describe('robots.txt', () => {
  test.each(CASES)('%p, %s: %p', (text, path, allowed) => {
    expect(parseRobots(text, 'towpath').allows(path)).toBe(allowed)
  })
})

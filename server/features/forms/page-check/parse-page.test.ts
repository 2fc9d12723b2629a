import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { atScale } from '../../../../tests/support/suite.ts'
import { PAGE_BYTES_MAX } from './fetch-page.ts'
import { listFieldLabels } from './list-field-labels.ts'
import { parsePage } from './parse-page.ts'

describe('the forms of a page', () => {
  const names = async (html: string) =>
    (await parsePage(html)).forms.map(({ controls }) => controls.map(({ name }) => name).join())

  test.each([
    ['<form><input name=a></form><input name=b>', ['a']],
    ['<form><div><input name=a></form><input name=b></div>', ['a']],
    ['<div><form></div><input name=a></form><input name=b>', ['a']],
    ['<table><tr><form><td><input name=a></tr><tr><input name=b></table></form>', ['a,b']],
    ['<form><form><input name=a></form><input name=b></form>', ['a']],
    ['<form id=f></form><form><input name=a form=f><input name=b></form>', ['a', 'b']],
    ['<input name=a form=f><form id=f></form>', ['a']],
    ['<input name=a form=other><form id=f></form>', ['']],
    ['<template><form><input name=a></form></template><form><input name=b></form>', ['b']],
    [
      '<form><template><input name=a></template><select name=s></select><textarea name=t></textarea></form>',
      ['s,t'],
    ],
    ['<form><input name=a>', ['a']],
  ])('have the same controls as in a browser: %s', async (html, expected) => {
    expect(await names(html)).toEqual(expected)
  })
})

describe('the labels of fields', () => {
  const read = async (html: string) => {
    const { forms, labels } = await parsePage(html)
    return forms.map((form) => [...listFieldLabels(form, labels)].map((pair) => pair.join(': ')).join(', '))
  }

  test.each([
    ['<form><label for=a>First  name *</label><input id=a name=first_name></form>', 'first_name: First name'],
    ['<form><label>Your <b>message</b>: <textarea name=m>text</textarea></label></form>', 'm: Your message'],
    ['<form><input id=a name=mail></form><label for=a>E-Mail (required)</label>', 'mail: E-Mail'],
    ['<form><label><input type=checkbox name=ok> I agree</label></form>', 'ok: I agree'],
    ['<form><label>Topic<select name=t><option>Sales<option>Help</select></label></form>', 't: Topic'],
    [
      '<form><fieldset><legend>Size</legend><label><input type=radio name=s value=1>S</label><label><input type=radio name=s>M</label></fieldset></form>',
      's: Size',
    ],
    ['<form><label><input type=radio name=s>S</label></form>', ''],
    [
      '<form><input name=a aria-label="Company &amp; Co"><input name=b placeholder=Phone></form>',
      'a: Company & Co, b: Phone',
    ],
    ['<form><label>Hidden<input type=hidden name=h></label><label>x<input name=_gotcha></label></form>', ''],
    ['<form><label> * </label><input name=a><label for=b>\u202e\u0000</label><input id=b name=b></form>', ''],
    [
      '<form><template><label for=a>No</label></template><label for=a>Yes</label><input id=a name=a></form>',
      'a: Yes',
    ],
    [
      '<form><label>One<input name=a></label></form><form><label>Two<input name=a></label></form>',
      'a: One|a: Two',
    ],
    [`<form><label>${'x'.repeat(5_000)}<input name=a></label></form>`, `a: ${'x'.repeat(200)}`],
    [
      '<form><label>__proto__<input name=__proto__></label><label>C<input name=constructor></label></form>',
      'constructor: C',
    ],
  ])('are those of the page: %s', async (html, expected) => {
    expect((await read(html)).join('|')).toBe(expected)
  })
})

/** Much deeper than the 512 nested elements that are read. The longest accepted page has four times as many bytes. */
const BYTES = PAGE_BYTES_MAX / 4

const PARTS = 8

/** The time of a page divided by that of eight pages with an eighth of its size: 1 where time grows with size alone. */
async function growth(pageOf: (bytes: number) => string): Promise<number> {
  const [small, big] = [pageOf(BYTES / PARTS), pageOf(BYTES)]
  return (await timeToRead(big, 1)) / Math.max(1, await timeToRead(small, PARTS))
}

/** Processor time, which other processes do not lengthen. */
async function timeToRead(html: string, times: number): Promise<number> {
  const before = process.cpuUsage()
  for (let n = 0; n < times; n++) await parsePage(html)
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** Quadratic work gives 8. Compiler and garbage collector can disturb one measurement, but not six in a row. */
const GROWTH_MAX = 3
const ATTEMPTS = 6

async function expectLinear(pageOf: (bytes: number) => string) {
  let least = Number.POSITIVE_INFINITY
  for (let n = 0; n < ATTEMPTS && least > GROWTH_MAX; n++) least = Math.min(least, await growth(pageOf))
  expect(least).toBeLessThanOrEqual(GROWTH_MAX)
}

const filled = (start: string, part: string) => (bytes: number) =>
  start + part.repeat((bytes - start.length) / part.length)

// Anybody can name a page, and the server has one thread: the longest accepted page must not block it.
describe('the time to read a page grows with its size alone', () => {
  test.each(
    [
      '<div></span>',
      '<form>',
      '<p class=a>',
      '<b><p>',
      '<',
      '</',
      '<!--',
      '<![CDATA[',
      '<a x="',
      "<a x='",
      '<script>',
      '<script></',
      '<textarea>',
      '<a ',
      '<template>',
      '<input form=a name=_gotcha>',
      '<fieldset disabled><input>',
      '<p style="display  height:1  ">',
      '&#39;',
      '&am',
      '<svg>',
      '<math><mi>',
      ' = ',
      '<b a=\t',
    ].flatMap((part) =>
      ['<form>', '<form><a ', '<form><svg>'].map((start): [string, string] => [start, part]),
    ),
  )('%s and then %s again and again', async (start, part) => {
    await expectLinear(filled(start, part))
  })

  test.each<[string, (bytes: number) => string]>([
    [
      'starts and ends that never meet',
      (bytes) => `<form>${'<div>'.repeat(bytes / 12)}${'</span>'.repeat(bytes / 12)}`,
    ],
    [
      'ends of paragraphs that nothing began',
      (bytes) => `<form>${'<div>'.repeat(bytes / 9)}${'</p>'.repeat(bytes / 9)}`,
    ],
    ['a tag with a name as long as the page', (bytes) => `<${'a'.repeat(bytes)}>`],
    ['an attribute with a name as long as the page', (bytes) => `<a ${'b'.repeat(bytes)}>`],
    ['a style as long as the page', (bytes) => `<p style="${'display '.repeat(bytes / 8)}">`],
    ['a class as long as the page', (bytes) => `<p class="${' '.repeat(bytes)}">`],
    [
      'attributes that all have another name',
      (bytes) => `<a ${Array.from({ length: bytes / 8 }, (_, n) => `a${n}`).join(' ')}>`,
    ],
  ])('%s', async (_, pageOf) => {
    await expectLinear(pageOf)
  })
})

test('a page of random parts is read to its end', async () => {
  const parts = ['<', '>', '/', '"', "'", '=', ' ', '!--', '-->', 'form', 'script', 'a', '&#39;', '\0', 'ü']
  const tags = ['<p x="', '<form>', '</form>', '<input name=a>', '<template>', '</template>', '<svg>']
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...parts, ...tags), { maxLength: 60 }), async (picked) => {
      for (const { position, controls } of (await parsePage(picked.join(''))).forms) {
        expect([position > 0, controls.every(({ tag }) => tag !== undefined)]).toEqual([true, true])
      }
    }),
    { numRuns: atScale({ quick: 300, full: 2_000, soak: 20_000 }) },
  )
})

test('a page with more than anybody writes is read in part, and says so', async () => {
  const { forms, scripts, metas, cut } = await parsePage(
    '<form></form>'.repeat(300) + '<script></script>'.repeat(1100) + '<meta>'.repeat(300),
  )
  expect([forms.length, scripts.length, metas.length, cut]).toEqual([200, 1000, 200, true])
  const { forms: long } = await parsePage(`<form>${'<input>'.repeat(6000)}`)
  expect(long[0]?.controls.length).toBe(5000)
})

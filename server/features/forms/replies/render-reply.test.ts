import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { findDangers, hostileText } from '../../../../tests/support/hostile-senders.ts'
import { atScale } from '../../../../tests/support/suite.ts'
import { renderReply } from './render-reply.ts'

const LINKS = { confirmUrl: 'https://go.example/f/confirm/1.abc', stopUrl: 'https://go.example/f/stop/1.def' }
const render = (text: string, fields: Record<string, string>, subject = 'Thanks') =>
  renderReply(
    { subject, text },
    { fields: new Map(Object.entries(fields)), email: 'ada@example.com', stopUrl: LINKS.stopUrl },
  )
const fill = (text: string, fields: Record<string, string>) => render(text, fields).text

describe('a reply', () => {
  test.each([
    ['Hello {{name}}!', { name: 'Ada' }, 'Hello Ada!'],
    ['Hello {{ First name }}!', { 'First name': 'Ada' }, 'Hello Ada!'],
    ['[{{unknown}}]', {}, '[]'],
    ['[{{constructor}}{{__proto__}}]', {}, '[]'],
    ['{{name}}', { name: '{{message}} {{confirm}}', message: 'x' }, '{{message}} {{confirm}}'],
    ['{{a}}', { a: 'x'.repeat(101) }, 'x'.repeat(100)],
    ['{{a}}', { a: '💌'.repeat(101) }, '💌'.repeat(100)],
    ['{{a}}', { a: 'line\r\nBcc: you\n\nmore' }, 'line Bcc: you more'],
    ['{{a}}', { a: 'tell\u202egnp' }, 'tellgnp'],
    ['{{a}}', { a: '<b>Ada</b> & "co"' }, 'Ada & "co"'],
    ['{{a}}', { a: '16:30, 1.50 €, 3/4, e.g. U.S.A.' }, '16:30, 1.50 €, 3⁄4, e.g. U.S.A.'.replace('⁄', '/')],
    ['we write to {{email}}.', { email: 'ada@example.com' }, 'we write to ada@example.com.'],
    ['we write to {{email}}.', { email: 'eve@evil.example' }, 'we write to .'],
  ])('%j with %j is %j', (template, fields, expected) => {
    expect(fill(template, fields as Record<string, string>)).toBe(expected)
  })

  test.each([
    'see http://evil.example/x now',
    'see evil.example now',
    'see evil.example/login?x=1 now',
    'see www.evil now',
    'see boss@evil.example now',
    'see javascript:alert(1) now',
    'see mailto:boss now',
    'see //evil now',
    'see \\\\evil\\share now',
    'see ｅｖｉｌ．ｅｘａｍｐｌｅ now',
    'see evil。example now',
    'see ev\u00adil.exa\u200bmple now',
    'see пример.рф now',
    'see 192.0.2.7 now',
    'see [here](evil) now',
    'see =?utf-8?B?aHR0cDovL2V2aWwuY29t?= now',
    'see <a href="http://evil.example">now',
  ])('loses the link of %j', (value) => {
    expect(fill('{{a}}', { a: value })).toBe('see now')
  })

  test('gets no link out of two placeholders, or of a placeholder and the text around it', () => {
    const fields = { a: 'evil.', b: 'example', c: 'evil', d: '//', e: '.evil', f: '@evil' }
    expect(fill('x {{a}}{{b}} y', fields)).toBe('x  y')
    expect(fill('x {{c}}.{{b}} y', fields)).toBe('x . y')
    expect(fill('x https:{{c}} y', fields)).toBe('x https: y')
    expect(fill('x www.{{c}} y', fields)).toBe('x www. y')
    // The host of the owner's link stays, and what is behind it is encoded.
    expect(fill('https://shop.example{{e}}/x', fields)).toBe('https://shop.example/x')
    expect(fill('https://shop.example{{f}}', fields)).toBe('https://shop.example')
    expect(fill('https://{{c}}.shop.example/', fields)).toBe('https://.shop.example/')
    expect(fill('https://shop.example/orders/{{n}}?x=1', { n: 'A 7/2' })).toBe(
      'https://shop.example/orders/A%207%2F2?x=1',
    )
  })

  test('has a subject of one line, whatever is inserted', () => {
    const { subject } = render('x', { name: 'Ada\r\nBcc: x\u2028y' }, 'Thanks\u0085 {{name}} {{confirm}}')
    expect(subject).toBe('Thanks  Ada Bcc: x y')
    expect(render('x', { a: 'x'.repeat(500) }, '{{a}} {{a}} {{a}} {{a}}').subject).toHaveLength(250)
  })

  test('has the link to confirm where the template says so, else at the end', () => {
    const confirm = (text: string) =>
      renderReply(
        { subject: 's {{confirm}}', text },
        { fields: new Map([['x', 'evil']]), email: 'a@b.co', ...LINKS },
      )
    expect(confirm('Press {{confirm}} please').text).toBe(`Press ${LINKS.confirmUrl} please`)
    expect(confirm('Hello').text).toBe(`Hello\n\n${LINKS.confirmUrl}\n`)
    expect(confirm('({{confirm}}{{x}})').text).toBe(`(${LINKS.confirmUrl})`)
    expect(confirm('Stop: {{unsubscribe}}').text).toBe(`Stop: ${LINKS.stopUrl}\n\n${LINKS.confirmUrl}\n`)
    expect(confirm('Hello').subject).toBe('s')
    // Even a template that is as long as it may be keeps the link.
    expect(confirm(`${'{{x}}'.repeat(1_990)}`).text).toEndWith(`${LINKS.confirmUrl}\n`)
  })

  test('of nothing but placeholders is no letter of the sender', () => {
    const fields = Object.fromEntries(Array.from({ length: 256 }, (_, i) => [`f${i}`, 'x'.repeat(65_536)]))
    const text = fill(
      Object.keys(fields)
        .map((name) => `{{${name}}}`)
        .join(' '),
      fields,
    )
    expect(text.length).toBeLessThan(10_500)
  })

  // No open relay: docs/contract.md §13.
  test('of random hostile fields is the template, and pieces of 100 characters that are harmless', () => {
    const names = ['name', 'message', 'a', 'b', 'c'] as const
    const template = {
      subject: 'Thanks {{name}}: {{a}}{{b}}',
      text: 'Hello {{name}},\n\nyou wrote "{{message}}".\n{{a}}{{b}}.{{c}} ({{a}}) {{b}}: {{c}}\n{{email}}\n\nYour team',
    }
    const fields = fc.tuple(...names.map(() => hostileText()))
    const runs = atScale({ quick: 300, full: 20_000, soak: 1_000_000 })
    fc.assert(
      fc.property(fields, (values) => {
        const sent = new Map<string, string>(names.map((name, i) => [name, values[i] ?? '']))
        const email = 'ada@recipient.example'
        const { subject, text } = renderReply(template, {
          fields: new Map([...sent, ['email', email]]),
          email,
          stopUrl: LINKS.stopUrl,
        })
        expect(findDangers(text.replace(email, ''))).toEqual([])
        expect(findDangers(subject)).toEqual([])
        expect(subject).not.toContain('\n')
        const lines = text.split('\n')
        expect(lines.filter((_, i) => [1, 5].includes(i))).toEqual(['', ''])
        expect([lines.length, lines[4], lines[6]]).toEqual([7, email, 'Your team'])
        expect(lines[0]?.length).toBeLessThanOrEqual('Hello ,'.length + 200)
        expect(lines[3]?.length).toBeLessThanOrEqual(5 * 200 + 8)
        expect(lines[0]).toMatch(/^Hello .*,$/su)
        expect(lines[2]).toMatch(/^you wrote ".*"\.$/su)
      }),
      { numRuns: runs },
    )
  }, 600_000)
})

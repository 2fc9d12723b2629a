import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { discordMessage } from '../channels/discord.ts'
import { mailHtml, mailText } from '../channels/mail-body.ts'
import { createNotice, INJECTIONS, SUBMISSION_URL } from '../channels/notice.fixture.ts'
import { utf8Length } from '../channels/safe-text.ts'
import { slackMessage } from '../channels/slack.ts'
import { slackCompatibleMessage } from '../channels/slack-compatible.ts'
import { teamsMessage } from '../channels/teams.ts'
import { telegramText } from '../channels/telegram.ts'
import { createLayout } from './create-layout.ts'
import { findTemplateMistake, parseTemplate } from './parse-template.ts'

const render = (text: string, fields: [string, string][] = [], max = 1000) => {
  const notice = createNotice({ fields: new Map(fields) })
  return createLayout({ subject: null, text }, notice).render(max, utf8Length)
}

describe('a template', () => {
  test('has values in place of its placeholders, and an absent field is empty', () => {
    const text =
      '{{field:name}} ({{ field:company }}) wrote to {{form}}:\n{{field:message}}\n{{attribution}}\n{{url}}'
    const fields: [string, string][] = [
      ['name', 'Ada'],
      ['message', 'Hello'],
    ]
    expect(render(text, fields)).toBe(
      `Ada () wrote to Contact:\nHello\nnewsletter / spring · go.example/abc · Berlin, DE · iPhone\n${SUBMISSION_URL}`,
    )
  })

  test('lists all fields in their order', () => {
    expect(
      render('{{fields}}', [
        ['b', 'one\ntwo'],
        ['10', ''],
      ]),
    ).toBe('b:\n  one\n  two\n10:\n  ')
  })

  test('never reads a value as a placeholder, and a value cannot look like a line of it', () => {
    const fields: [string, string][] = [
      ['a', '{{url}} {{field:b}}'],
      ['b', 'x\nAmount: 500'],
    ]
    expect(render('A: {{field:a}}\nB: {{field:b}}', fields)).toBe(
      'A: {{url}} {{field:b}}\nB: x\n  Amount: 500',
    )
  })

  test('cuts long values so that its own text stays', () => {
    const text = render(
      'From {{field:a}} to {{field:b}}, the end',
      [
        ['a', 'x'.repeat(60_000)],
        ['b', 'short'],
      ],
      300,
    )
    expect(text).toMatch(/^From x+… \(open in Towpath\) to short, the end$/)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(300)
  })

  test.each([
    [
      '{{fields}} {{nonsense}}',
      'text',
      'has the unknown placeholder {{nonsense}}; known are {{form}}, {{fields}}, {{attribution}}, {{files}}, {{url}}, {{field:name}}',
    ],
    [
      '{{url}}',
      'subject',
      'has the unknown placeholder {{url}}; known are {{form}}, {{attribution}}, {{field:name}}',
    ],
    ['{{field:}}', 'text', expect.stringContaining('without the name of a field')],
    ['{{form', 'text', expect.stringContaining('without "}}"')],
    ['{{fields}}{{fields}}', 'text', 'has {{fields}} more than once'],
    ['{{form}}'.repeat(51), 'text', 'has more than 50 placeholders'],
    ['{{FORM}}', 'text', expect.stringContaining('unknown placeholder {{FORM}}')],
    ['{ {{form}} } }}', 'text', undefined],
  ] as const)('%j as a %s: %s', (template, part, mistake) => {
    expect(findTemplateMistake(template, part)).toEqual(mistake as string)
  })

  test('without a mistake keeps every character of its own text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const parts = parseTemplate(text)
        const back = parts.map((part) =>
          part.kind === 'literal'
            ? part.text
            : part.kind === 'field'
              ? `{{field:${part.name}}}`
              : `{{${part.name}}}`,
        )
        if (!text.includes('{{')) expect(back.join('')).toBe(text)
      }),
    )
  })

  test('has a subject of one line, with at most 100 characters of a value, and no control characters', () => {
    const fields = new Map([['name', `Ada\r\nBcc: victim@example.org\0\u202e${'x'.repeat(500)}`]])
    const { subject } = createLayout(
      { subject: 'Lead: {{field:name}}!', text: 'x' },
      createNotice({ fields }),
    )
    expect(subject).toMatch(/^Lead: Ada Bcc: victim@example\.org[^\r\n\0\u202e]*…!$/)
    expect((subject as string).length).toBeLessThanOrEqual('Lead: !'.length + 100)
    const empty = createLayout({ subject: '{{field:gone}}', text: 'x' }, createNotice({ fields }))
    expect(empty.subject).toBeNull()
  })

  test('names the files of a submission, and how many more there are', () => {
    const files = Array.from({ length: 7 }, (_, n) => ({
      name: `plan\n${n}.pdf`,
      bytes: 2048,
      url: 'https://go.example/f',
      key: '',
    }))
    const layout = createLayout({ subject: null, text: 'Files: {{files}}' }, createNotice({ files }))
    const text = layout.render(1000, utf8Length)
    expect(text).toStartWith('Files: plan 0.pdf (')
    expect(text).toEndWith('2 more files')
    expect(text).not.toContain('https://')
  })

  test('stays within the limits of every service, and keeps values inert', () => {
    for (const value of [
      ...INJECTIONS,
      'x'.repeat(65_536),
      '\n'.repeat(60_000),
      '"'.repeat(60_000),
      '*'.repeat(60_000),
    ]) {
      const values = createNotice({ fields: new Map([['a', value]]) })
      const layout = createLayout({ subject: 'Hi {{field:a}}', text: '*{{field:a}}*\n{{fields}}' }, values)
      const notice = { ...values, layout }
      const telegram = telegramText(notice)
      expect(telegram.replace(/<\/?(b|code|a)( href="[^"]*")?>/g, '')).not.toMatch(/[<>]/)
      expect(telegram.replace(/<[^>]*>|&\w+;/g, 'x').length).toBeLessThanOrEqual(4096)
      const { blocks } = slackMessage(notice) as {
        blocks: { type: string; text?: { type: string; text: string } }[]
      }
      for (const { type, text } of blocks) {
        if (type === 'section')
          expect([text?.type, (text?.text.length ?? 0) <= 3000]).toEqual(['plain_text', true])
      }
      expect(Buffer.byteLength(JSON.stringify(blocks))).toBeLessThan(13_200)
      const [embed] = discordMessage(notice).embeds
      expect(embed?.description?.length).toBeLessThanOrEqual(4096)
      expect(embed?.description).not.toMatch(/(?<!\\)@everyone/)
      expect(Buffer.byteLength(JSON.stringify(teamsMessage(notice)), 'utf16le')).toBeLessThan(60_000)
      expect(slackCompatibleMessage(notice).text.length).toBeLessThanOrEqual(4000)
      expect(slackCompatibleMessage(notice).text.split('```').length).toBe(3)
      expect(mailHtml(notice)).not.toContain('<script>')
      expect(Buffer.byteLength(mailHtml(notice))).toBeLessThan(102_000)
      expect(mailText(notice)).toContain(SUBMISSION_URL)
    }
  })

  test('has attribution and link at the end of a mail, unless it has them itself', () => {
    const toMail = (text: string) => {
      const values = createNotice()
      return mailText({ ...values, layout: createLayout({ subject: null, text }, values) })
    }
    expect(toMail('Hello')).toBe(
      `Hello\n\nnewsletter / spring · go.example/abc · Berlin, DE · iPhone\n\nOpen in Towpath: ${SUBMISSION_URL}\n`,
    )
    expect(toMail('{{attribution}}\n{{url}}')).toBe(
      `newsletter / spring · go.example/abc · Berlin, DE · iPhone\n${SUBMISSION_URL}\n`,
    )
    const values = createNotice()
    const html = mailHtml({ ...values, layout: createLayout({ subject: null, text: '<b>{{url}}' }, values) })
    expect(html).toContain(`&lt;b&gt;<a href="${SUBMISSION_URL}"`)
  })
})

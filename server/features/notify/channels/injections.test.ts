// Text from strangers stays text in every chat program: names, values, campaigns and form names.

import { describe, expect, test } from 'bun:test'
import { validateDiscordMessage } from '../../../../tests/support/fake-servers/discord.ts'
import { validateSlackMessage } from '../../../../tests/support/fake-servers/slack.ts'
import {
  findActing,
  parseFence,
  validateSlackCompatibleMessage,
} from '../../../../tests/support/fake-servers/slack-compatible.ts'
import { validateTeamsMessage } from '../../../../tests/support/fake-servers/teams.ts'
import { parseTelegramHtml } from '../../../../tests/support/fake-servers/telegram.ts'
import { formatAttributionLine } from '../content/attribution-line.ts'
import type { Notice } from './contract.ts'
import { discordMessage } from './discord.ts'
import { mailHtml, mailText } from './mail-body.ts'
import { createNotice, INJECTIONS, SUBMISSION_URL } from './notice.fixture.ts'
import { removeControlCharacters, toOneLine } from './safe-text.ts'
import { slackMessage } from './slack.ts'
import { slackCompatibleMessage } from './slack-compatible.ts'
import { teamsMessage } from './teams.ts'
import { telegramText } from './telegram.ts'
import { webhookBody } from './webhook.ts'

// biome-ignore lint/suspicious/noExplicitAny: the services' own shapes
type Any = any

const attributionOf = (text: string) =>
  formatAttributionLine({
    utmSource: text,
    utmMedium: null,
    utmCampaign: text,
    shortUrl: 'https://go.example/abc',
    isPending: false,
    city: text,
    country: null,
    device: null,
    referrer: null,
  })

const hostile = (text: string): Notice =>
  createNotice({
    form: { formKey: 'contact', name: text || 'x' },
    fields: new Map([
      [text || 'empty', 'plain'],
      ['plain', text],
      [`pre ${text}`, `${text} post`],
    ]),
    attribution: attributionOf(text),
  })

// biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
const ACTING = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/

const objectsIn = (value: Any): Any[] =>
  value && typeof value === 'object' ? [value, ...Object.values(value).flatMap(objectsIn)] : []
const shownAs = (text: string) => removeControlCharacters(text).trim() || '–'

describe.each(INJECTIONS.map((text) => [text]))('%j', (text) => {
  const notice = hostile(text)

  test('in Slack is plain text', () => {
    const message = slackMessage(notice)
    expect(validateSlackMessage(message)).toBeUndefined()
    const texts = objectsIn(message.blocks).filter(({ type }) => type === 'mrkdwn' || type === 'plain_text')
    expect(texts.filter(({ type }) => type === 'mrkdwn')).toEqual([
      { type: 'mrkdwn', text: `<${SUBMISSION_URL}|Open in Towpath>` },
    ])
    // Else ":smile:" would be a picture.
    for (const one of texts) expect(one.type === 'mrkdwn' || one.emoji === false).toBe(true)
    expect(message.text).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/)
    expect(message).not.toHaveProperty('link_names')
    expect(texts.map((one) => one.text)).toContain(shownAs(text))
    expect(texts.map((one) => one.text).join('')).not.toMatch(ACTING)
  })

  test('in Mattermost and Rocket.Chat is code, and mentions nobody', () => {
    const message = slackCompatibleMessage(notice)
    expect(validateSlackCompatibleMessage(message)).toBeUndefined()
    expect(Object.keys(message)).toEqual(['text'])
    const { outside, code } = parseFence(message.text)
    expect(outside).toBe(`**New submission**\n[Open in Towpath](${SUBMISSION_URL})`)
    expect(findActing(code)).toEqual([])
    expect(code).not.toMatch(ACTING)
    expect(code.replaceAll('\u2060', '')).toContain(
      shownAs(text).replaceAll('\u2060', '').replaceAll('\n', '\n  '),
    )
    // People copy the address of the sender.
    expect(slackCompatibleMessage(createNotice()).text).toContain('ada@example.org')
  })

  test('in Discord mentions nobody, and every sign of Markdown is escaped', () => {
    const message = discordMessage(notice)
    expect(validateDiscordMessage(message)).toBeUndefined()
    expect(message).toMatchObject({ allowed_mentions: { parse: [] } })
    expect(message).not.toHaveProperty('content')
    const [embed] = message.embeds as Any[]
    const link = embed.fields.pop()
    expect(link.value).toBe(`[Open in Towpath](${SUBMISSION_URL})`)
    const texts: string[] = [embed.title, ...embed.fields.flatMap(({ name, value }: Any) => [name, value])]
    for (const one of texts) {
      expect(one.replace(/\\[!-/:-@[-`{-~]/g, '')).not.toMatch(/[!-/:-@[-`{-~]/)
      expect(one).not.toMatch(ACTING)
    }
    expect(texts[4]?.replace(/\\([^A-Za-z0-9\s])/g, '$1')).toBe(shownAs(text))
  })

  test('in Telegram is code, or contains no link', () => {
    const { text: shown, entities, live } = parseTelegramHtml(telegramText(notice))
    expect(live).toEqual([])
    expect(entities.filter(({ tag }) => tag !== 'b' && tag !== 'code')).toMatchObject([
      { tag: 'a', href: SUBMISSION_URL },
    ])
    const codes = entities.filter(({ tag }) => tag === 'code').map(({ from, to }) => shown.slice(from, to))
    expect(codes.slice(-4)).toContain(shownAs(text))
    expect(shown).not.toMatch(ACTING)
  })

  test('in Teams is a run of text', () => {
    const message = teamsMessage(notice)
    expect(validateTeamsMessage(JSON.stringify(message))).toBeUndefined()
    const card = message.attachments[0]?.content as Any
    const typed = objectsIn(card.body).filter(({ type }) => type)
    expect(new Set(typed.map(({ type }) => type))).toEqual(new Set(['RichTextBlock', 'TextRun']))
    expect(typed.filter((one) => 'selectAction' in one || 'msteams' in one)).toEqual([])
    expect(card.actions).toEqual([{ type: 'Action.OpenUrl', title: 'Open in Towpath', url: SUBMISSION_URL }])
    for (const { type, text: run } of typed) if (type === 'TextRun') expect(run).not.toMatch(/\n/)
  })

  test('in HTML mail is text', async () => {
    const found: string[] = []
    let values: string[] = []
    const rewriter = new HTMLRewriter()
      .on('*', {
        element(element) {
          found.push(element.tagName)
          for (const [name, value] of element.attributes) {
            if (!/^(style|dir|charset|name|content)$/.test(name)) found.push(`${name}=${value}`)
          }
          if (element.tagName === 'dd') values.push('')
          if (element.tagName === 'br') values[values.length - 1] += '\n'
        },
      })
      .on('dd', {
        text(chunk) {
          values[values.length - 1] += chunk.text
        },
      })
    await rewriter.transform(new Response(mailHtml(notice))).text()
    const allowed = 'html head meta title body h1 dl dt dd p a br'.split(' ')
    expect(found.filter((one) => !allowed.includes(one))).toEqual([`href=${SUBMISSION_URL}`])
    expect(found.filter((one) => one === 'dd')).toHaveLength(notice.fields.size)
    const read = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' } as Record<
      string,
      string
    >
    values = values.map((value) => value.replace(/&[a-z#0-9]+;/g, (entity) => read[entity] ?? entity))
    expect(values).toContain(shownAs(text))
  })

  test('in a text mail cannot look like another field, or like the end', () => {
    const lines = mailText(notice).split('\n')
    const names = [...notice.fields.keys()].map((name) => `${toOneLine(name) || '–'}:`)
    const unindented = lines.filter((line) => line !== '' && !line.startsWith('  '))
    expect(unindented.slice(1, -2)).toEqual(names)
    expect(unindented.at(-1)).toBe(`Open in Towpath: ${SUBMISSION_URL}`)
    expect(lines.join('')).not.toMatch(ACTING)
  })

  test('in a webhook is unchanged', () => {
    const submissionJson = JSON.stringify({ id: 42, fields: { plain: text } })
    expect(JSON.parse(webhookBody({ ...notice, submissionJson })).data.fields.plain).toBe(text)
  })
})

const FILE_URL = 'https://go.example/f/files/2026-10-01.token'

describe.each(INJECTIONS.map((text) => [text]))('a file called %j', (text) => {
  const notice = createNotice({ files: [{ name: text, bytes: 1536, url: FILE_URL, key: '' }] })

  test('has one download link of ours in each program, and acts nowhere', () => {
    const slack = slackMessage(notice)
    expect(validateSlackMessage(slack)).toBeUndefined()
    const links = objectsIn(slack.blocks).filter(({ type }) => type === 'mrkdwn')
    expect(links.map((one) => one.text)).toEqual([
      `<${FILE_URL}|Download>`,
      `<${SUBMISSION_URL}|Open in Towpath>`,
    ])
    const compatible = slackCompatibleMessage(notice)
    expect(validateSlackCompatibleMessage(compatible)).toBeUndefined()
    expect(findActing(compatible.text)).toEqual([])
    expect(compatible.text.split('\n').slice(-3)).toEqual([
      '```',
      `[Open in Towpath](${SUBMISSION_URL})`,
      `[Download 1](${FILE_URL})`,
    ])
    const discord = discordMessage(notice)
    expect(validateDiscordMessage(discord)).toBeUndefined()
    const [name, value] = Object.values((discord.embeds as Any[])[0].fields.at(-2)) as string[]
    expect(name?.replace(/\\[!-/:-@[-`{-~]/g, '')).not.toMatch(/[!-/:-@[-`{-~]/)
    expect(value).toBe(`[Download](${FILE_URL})`)
    const { entities, live } = parseTelegramHtml(telegramText(notice))
    expect(live).toEqual([])
    expect(entities.flatMap(({ tag, href }: Any) => (tag === 'a' ? [href] : []))).toEqual([
      FILE_URL,
      SUBMISSION_URL,
    ])
    const teams = teamsMessage(notice)
    expect(validateTeamsMessage(JSON.stringify(teams))).toBeUndefined()
    const card = teams.attachments[0]?.content as Any
    expect(card.actions.map(({ url }: Any) => url)).toEqual([SUBMISSION_URL, FILE_URL])
  })

  test('is text in mails, with the size and a link', async () => {
    const hrefs: (string | null)[] = []
    await new HTMLRewriter()
      .on('a', { element: (element) => void hrefs.push(element.getAttribute('href')) })
      .transform(new Response(mailHtml(notice)))
      .text()
    expect(hrefs).toEqual([FILE_URL, SUBMISSION_URL])
    const lines = mailText(notice).split('\n')
    expect(lines.filter((line) => line.startsWith('Download'))).toEqual(['Download:'])
    expect(lines[lines.indexOf('Download:') + 1]).toEndWith('(1.5 KB)')
    expect(lines[lines.indexOf('Download:') + 2]).toBe(`  ${FILE_URL}`)
  })
})

// Message size limits of each service: they hold for any submission, and all fields stand in the sender's order.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { validateDiscordMessage } from '../../../../tests/support/fake-servers/discord.ts'
import { validateSlackMessage } from '../../../../tests/support/fake-servers/slack.ts'
import { validateSlackCompatibleMessage } from '../../../../tests/support/fake-servers/slack-compatible.ts'
import { validateTeamsMessage } from '../../../../tests/support/fake-servers/teams.ts'
import {
  parseTelegramHtml,
  validateTelegramMessage,
} from '../../../../tests/support/fake-servers/telegram.ts'
import { atScale } from '../../../../tests/support/suite.ts'
import type { Notice } from './contract.ts'
import { discordMessage } from './discord.ts'
import { mailHtml, mailText } from './mail-body.ts'
import { createNotice, SUBMISSION_URL } from './notice.fixture.ts'
import { slackMessage } from './slack.ts'
import { slackCompatibleMessage } from './slack-compatible.ts'
import { teamsMessage } from './teams.ts'
import { telegramText } from './telegram.ts'

// biome-ignore lint/suspicious/noExplicitAny: the services' own shapes
type Any = any

interface Service {
  fault(notice: Notice): string | undefined
  /** The text that a reader sees, with escapes decoded. */
  shown(notice: Notice): string
}

const textsIn = (value: Any): string[] =>
  typeof value === 'string'
    ? [value]
    : value && typeof value === 'object'
      ? Object.values(value).flatMap(textsIn)
      : []

const SERVICES: Record<string, Service> = {
  Slack: {
    fault: (notice) => validateSlackMessage(slackMessage(notice)),
    shown: (notice) => textsIn(slackMessage(notice).blocks).join('\n'),
  },
  'Mattermost and Rocket.Chat': {
    fault: (notice) => validateSlackCompatibleMessage(slackCompatibleMessage(notice)),
    shown: (notice) => slackCompatibleMessage(notice).text.replaceAll('\u2060', ''),
  },
  Discord: {
    fault: (notice) => validateDiscordMessage(discordMessage(notice)),
    shown: (notice) =>
      textsIn(discordMessage(notice))
        .join('\n')
        .replace(/\\([^a-z0-9\s])/gi, '$1'),
  },
  Telegram: {
    fault: (notice) => validateTelegramMessage({ text: telegramText(notice), parse_mode: 'HTML' }),
    shown: (notice) => {
      const { text, entities } = parseTelegramHtml(telegramText(notice))
      return `${text}\n${entities.map(({ href }) => href).join('')}`.replaceAll('\u2060', '')
    },
  },
  Teams: {
    fault: (notice) => validateTeamsMessage(JSON.stringify(teamsMessage(notice))),
    shown: (notice) => textsIn(teamsMessage(notice)).join('\n'),
  },
  'Email as text': {
    fault: (notice) => (Buffer.byteLength(mailText(notice)) > 102_000 ? 'clipped' : undefined),
    shown: mailText,
  },
  'Email as HTML': {
    fault: (notice) => (Buffer.byteLength(mailHtml(notice)) > 104_000 ? 'clipped' : undefined),
    shown: mailHtml,
  },
}

const value = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc
    .tuple(
      fc.constantFrom('x', '\n', 'ü', '漢', '👩', '&', '<', '*', '"', '\\', '@', '\0', ' ', '.'),
      fc.nat(65_000),
    )
    .map(([one, times]) => one.repeat(times)),
)
const fields = fc
  .oneof(
    fc.array(fc.tuple(fc.string({ unit: 'binary', maxLength: 256 }), value), { maxLength: 12 }),
    fc.array(fc.tuple(fc.string({ maxLength: 256 }), fc.string({ maxLength: 40 })), {
      minLength: 200,
      maxLength: 256,
    }),
  )
  .map((list) => new Map(list))

const notices = fc.record({ fields, name: value, attribution: value }).map(({ fields, name, attribution }) =>
  createNotice({
    fields,
    form: { formKey: 'k', name },
    attribution,
  }),
)

describe.each(Object.entries(SERVICES))('%s', (_, { fault, shown }) => {
  test('accepts every submission', () => {
    fc.assert(
      fc.property(notices, (notice) => {
        expect(fault(notice)).toBeUndefined()
        // Not toContain: it would print them.
        expect(shown(notice).includes(SUBMISSION_URL)).toBe(true)
      }),
      { numRuns: atScale({ full: 20, soak: 60 }) },
    )
  })

  test('shows short fields whole and in order, then the attribution, then the link', () => {
    const text = shown(createNotice())
    const places = ['Contact', 'name', 'Ada Lovelace', '10', 'ten', 'email', 'ada@example.org', 'please call']
    let at = 0
    for (const place of places) {
      at = text.indexOf(place, at)
      expect([place, at]).toEqual([place, expect.any(Number)])
      expect(at).toBeGreaterThanOrEqual(0)
    }
    expect(text.indexOf('newsletter / spring · go.example/abc · Berlin, DE · iPhone')).toBeGreaterThan(at)
  })

  test('links to the rest of a long submission', () => {
    const long = createNotice({
      fields: new Map(Array.from({ length: 256 }, (_, i) => [`field ${i}`, `${i} `.repeat(3000)])),
    })
    const text = shown(long)
    expect(text).toContain('… (open in Towpath)')
    expect(text).toContain('field 0')
    if (!text.includes('field 255')) expect(text).toMatch(/… \d+ more fields/)
    expect(text).toContain(SUBMISSION_URL)
  })

  test('shows no attribution when nothing is known', () => {
    expect(fault(createNotice({ attribution: '', fields: new Map() }))).toBeUndefined()
  })
})

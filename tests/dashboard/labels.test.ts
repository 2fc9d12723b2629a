// The words of the dashboard for times, numbers, dimensions, events, deliveries and imports.

import { describe, expect, test } from 'bun:test'
import type { ChannelResource } from '../../dashboard/api/channels.ts'
import type { DeliveryResource } from '../../dashboard/api/deliveries.ts'
import type { Submission } from '../../dashboard/api/submissions.ts'
import type { ImportResource } from '../../dashboard/api/transfer/imports.ts'
import { keepPreviousPeriod } from '../../dashboard/pages/analytics/overview/keep-previous-period.ts'
import {
  appliesTo,
  createNameShortener,
  DIMENSION_NAMES,
  type Dimension,
  formatDimensionValue,
  formatRate,
} from '../../dashboard/pages/analytics/view/dimensions.ts'
import { createBucketLabels, formatRange } from '../../dashboard/pages/analytics/view/time-labels.ts'
import { findTrouble } from '../../dashboard/pages/channels/channel-health.ts'
import {
  toAttemptsText,
  toChannelName,
  toDeliveryTitle,
} from '../../dashboard/pages/deliveries/delivery-status.ts'
import { guessZone, toRelativeName } from '../../dashboard/pages/domains/record-name.ts'
import {
  findWebUrl,
  toLinkText,
  toPreviewText,
  toSenderName,
  toSourceText,
} from '../../dashboard/pages/inbox/state/display-text.ts'
import { toFieldLabel } from '../../dashboard/pages/inbox/state/field-labels.ts'
import { toReadableName } from '../../dashboard/pages/inbox/state/readable-name.ts'
import {
  fillTemplate,
  quoteMessage,
  toMailto,
  toReplySubject,
} from '../../dashboard/pages/inbox/state/reply-text.ts'
import {
  toActorFilter,
  toActorText,
  toDetailText,
  toTargetText,
} from '../../dashboard/pages/settings/audit-text.ts'
import { toScopeText } from '../../dashboard/pages/settings/key-scopes.ts'
import { describeOutcome } from '../../dashboard/pages/transfer/detail/describe-outcome.ts'
import { canUndo, toFiguresText, toImportState } from '../../dashboard/pages/transfer/import-state.ts'
import { toSourcePhrase } from '../../dashboard/pages/transfer/source-names.ts'
import { COUNTRIES } from '../../dashboard/ui/countries.ts'
import {
  formatAgo,
  formatBytes,
  formatCount,
  formatCountryName,
  formatDay,
  formatPercent,
  formatTime,
  formatUnread,
  toFlagEmoji,
  toReadableUrl,
} from '../../dashboard/ui/format.ts'
import { toKeyNames } from '../../dashboard/ui/shortcuts.ts'
import { COUNTRY_CODES } from '../../server/lib/country-code.ts'

const NOW = Date.UTC(2026, 4, 20, 12)
const DAY = 86_400_000
const iso = (ms: number) => new Date(ms).toISOString()
const ago = (unit: Intl.RelativeTimeFormatUnit, n: number) =>
  new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' }).format(n, unit)

describe('numbers and times', () => {
  test.each([
    [59, 'just now'],
    [-59, 'just now'],
    [60, ago('minute', -1)],
    [3599, ago('minute', -59)],
    [3600, ago('hour', -1)],
    [2 * 86_400, ago('day', -2)],
    [31 * 86_400, ago('month', -1)],
    [800 * 86_400, ago('year', -2)],
    [-7200, ago('hour', 2)],
  ])('%d seconds ago is %p', (seconds, text) => expect(formatAgo(iso(NOW - seconds * 1000), NOW)).toBe(text))

  test('are short, and have their unit', () => {
    expect([0, 1, 99, 100].map(formatUnread)).toEqual(['0', '1', '99', '99+'])
    expect([0, 1023, 1024, 3 * 1024 ** 2, 1024 ** 5].map(formatBytes)).toEqual([
      '0 bytes',
      formatBytes(1023),
      '1 KB',
      '3 MB',
      expect.stringMatching(/ TB$/),
    ])
    expect([0, 1, 2].map((n) => formatCount(n, 'link'))).toEqual(['0 links', '1 link', '2 links'])
    expect(formatCount(2, 'row was', 'rows were')).toBe('2 rows were')
    expect([formatRate(0.0013), formatRate(0.5)]).toEqual([expect.stringContaining('13'), formatPercent(0.5)])
  })

  test('countries have a name and a flag, and addresses are read without their beginning', () => {
    expect(['DE', 'de', 'Unknown'].map(formatCountryName)).toEqual([
      expect.stringMatching(/^\p{L}{3,}/u),
      'de',
      'Unknown',
    ])
    expect(['DE', 'AZ', 'x', 'Unknown'].map(toFlagEmoji)).toEqual(['🇩🇪', '🇦🇿', '', ''])
    expect(toReadableUrl('https://www.example.com/sale/')).toBe('example.com/sale')
    expect(toReadableUrl('http://www.x.y/www.')).toBe('x.y/www.')
    expect([toKeyNames('g l'), toKeyNames('Shift+ArrowDown')]).toEqual([
      ['g', 'l'],
      ['⇧', '↓'],
    ])
  })
})

describe('analytics', () => {
  test.each<[Dimension, string, string]>([
    ['continent', 'EU', 'Europe'],
    ['continent', 'XX', 'XX'],
    ['trigger', 'qr', 'QR code'],
    ['channel', 'email', 'Email'],
    ['source', '(direct)', 'Direct'],
    ['referrer', 'x.y', 'x.y'],
    ['linkId', '0', 'No link'],
    ['linkId', '7', 'Link 7'],
    ['tagId', '7', 'Tag 7'],
    ['utmTerm', 'Unknown', 'None'],
    ['os', 'Unknown', 'Unknown'],
    ['country', 'Unknown', 'Unknown'],
  ])('the %s %p is %p', (dimension, value, label) =>
    expect(formatDimensionValue(dimension, value)).toBe(label),
  )

  test('some dimensions are only of clicks, some only of leads', () => {
    const only = (subject: 'clicks' | 'leads', other: 'clicks' | 'leads') =>
      DIMENSION_NAMES.filter((name) => appliesTo(name, subject) && !appliesTo(name, other))
    expect(only('clicks', 'leads')).toEqual(['referrerUrl', 'trigger'])
    expect(only('leads', 'clicks')).toEqual(['form', 'page'])
  })

  test('links of one domain are named without it', () => {
    const names = ['go.x/a/b', undefined, 'go.x/c']
    expect(createNameShortener(names)('go.x/a/b')).toBe('/a/b')
    expect(createNameShortener([...names, 'go.y/a'])('go.x/c')).toBe('go.x/c')
  })

  test('buckets and ranges are named in the zone of the view', () => {
    const hours = [NOW, NOW + DAY, NOW + 2 * DAY].map(iso)
    const label = (times: string[], granularity: 'hour' | 'week' | 'month', zone = 'UTC') =>
      createBucketLabels(times, granularity, zone)
    expect(label(hours, 'week').full(iso(NOW))).toMatch(/^Week of .*20/)
    expect(label(hours, 'month').full(iso(NOW))).toContain('2026')
    const [long, short] = [
      label(hours, 'hour').short(iso(NOW)),
      label(hours.slice(0, 2), 'hour').short(iso(NOW)),
    ]
    expect(long).toContain(short)
    expect(long.length).toBeGreaterThan(short.length)
    expect(label(hours, 'hour', 'Asia/Tokyo').short(iso(NOW))).not.toBe(long)
    const range = (start?: string, end?: string) => formatRange({ start, end }, 'UTC')
    expect(formatRange({ interval: '30d' }, 'UTC')).toBe('Last 30 days')
    expect(range('2026-05-12', '2026-05-18')).toMatch(/12.*18/)
    expect(range('2026-05-12', '2026-05-12')).toMatch(/^(?!.*[–-]).*12/)
    expect(range('2026-05-18', '2026-05-12')).toBe('2026-05-18 – 2026-05-12')
    expect(range('2026-05-12')).toMatch(/^Since .*12/)
    expect(range(undefined, '2026-05-12')).toMatch(/^Until .*12/)
    expect(range('2026-05-12T10:00:00Z', 'whenever')).toMatch(/12.* – whenever$/)
  })

  test('the period before is shown until the new one is there, while nothing else changes', () => {
    const keep = keepPreviousPeriod('clicks', { start: 'a', end: 'b', tag: '1' })
    const of = (...key: unknown[]) => keep('kept', { queryKey: [1, ...key] })
    expect(of('clicks', { start: 'a', end: 'c', tag: '1' })).toBe('kept')
    expect(of('clicks', { start: 'a', end: 'b', tag: '2' })).toBeUndefined()
    expect(of('leads', { start: 'a', end: 'b', tag: '1' })).toBeUndefined()
    expect(keep('kept', undefined)).toBeUndefined()
  })
})

describe('notifications', () => {
  const channel = (fields: object) =>
    findTrouble({
      enabled: true,
      disabledReason: null,
      unavailableReason: null,
      failingSince: null,
      lastError: null,
      ...fields,
    } as ChannelResource)

  test.each<[object, object | undefined]>([
    [{}, undefined],
    [{ enabled: false }, undefined],
    [{ unavailableReason: 'No mail' }, { label: 'Not available', reason: 'No mail.', since: null }],
    [
      { enabled: false, disabledReason: 'Gone!' },
      { label: 'Off', reason: 'Gone!' },
    ],
    [
      { failingSince: 'then', lastError: 'HTTP 503…' },
      { label: 'Failing', since: 'then', reason: 'HTTP 503…' },
    ],
    [{ failingSince: 'then' }, { reason: 'The last attempt failed.' }],
  ])('a channel with %p has the trouble %p', (fields, trouble) => {
    const found = channel(fields)
    if (trouble) expect(found).toMatchObject(trouble)
    else expect(found).toBeUndefined()
  })

  test.each([
    [{ event: 'test' }, 'Test notification'],
    [{ event: 'channel.disabled' }, 'Channel turned off'],
    [{ event: 'channel.behind' }, 'Channel falls behind'],
    [{ event: 'submission.digest' }, 'Digest of submissions'],
    [{ event: 'reply', sender: 'a@b.c' }, 'Reply to a@b.c'],
    [{ event: 'confirm', sender: null, submissionId: 3 }, 'Confirmation link to submission 3'],
    [{ event: 'submission.created', sender: 'a@b.c' }, 'a@b.c'],
    [{ event: 'submission.created', sender: null, submissionId: 3 }, 'Submission 3'],
  ])('the delivery %p is %p', (delivery, title) =>
    expect(toDeliveryTitle(delivery as unknown as DeliveryResource)).toBe(title),
  )

  test('a delivery names its channel and its attempts', () => {
    const names = new Map([[1, 'CRM']])
    const of = (channelId: number | null) => toChannelName({ channelId } as DeliveryResource, names)
    expect([of(1), of(2), of(null)]).toEqual(['CRM', 'Channel 2', 'Form sender'])
    const attempts = (attemptCount: number, interruptedCount: number) =>
      toAttemptsText({ attemptCount, interruptedCount } as DeliveryResource)
    expect([attempts(1, 0), attempts(3, 1)]).toEqual(['1 attempt', '3 attempts, 1 interrupted'])
  })
})

describe('a submission in the list', () => {
  const of = (fields: Record<string, string>, rest: object = {}) =>
    ({ fields, email: null, ...rest }) as unknown as Submission

  test.each([
    [of({ message: 'Hi', 'your-name': ' Ada ' }), 'Ada'],
    [of({ last_name: 'Byron', 'First name': 'Ada' }), 'Ada Byron'],
    [of({ name: ' ', x: 'y' }, { email: ' a@b.c ' }), 'a@b.c'],
    [of({ a: ' ', b: 'text' }), 'text'],
    [of({}), 'Empty submission'],
    [of({ name: 'n'.repeat(300) }), 'n'.repeat(200)],
  ])('is named after its sender: %#', (submission, name) => expect(toSenderName(submission)).toBe(name))

  test('is previewed with its longest text first, and says what brought it', () => {
    const submission = of(
      { name: 'Ada', topic: 'Boats', text: 'A longer text', mail: 'a@b.c' },
      { email: 'a@b.c' },
    )
    expect(toPreviewText(submission)).toBe('A longer text · Boats')
    const source = (utmSource: string | null, utmCampaign: string | null, referrer: string | null) =>
      toSourceText({ utmSource, utmCampaign, referrer } as Submission)
    expect([
      source('news', 'may', 'x'),
      source(null, 'may', 'x'),
      source(null, null, 'x'),
      source(null, null, null),
    ]).toEqual(['news / may', 'may', 'x', ''])
    const link = (attribution: string, linkId: number | null, slug?: string) =>
      toLinkText({ attribution, linkId, link: slug ? { slug } : null } as Submission)
    expect([link('pending', 1), link('none', null), link('measured', 1, 'a'), link('inferred', 1)]).toEqual([
      'Link not decided yet',
      '',
      '/a',
      'Deleted link (inferred)',
    ])
  })

  test.each([
    [
      { first_name: 'Ada', last_name: 'Byron', message: 'Hi', topic: 'A longer topic' },
      'Hi · A longer topic',
    ],
    [{ name: 'Ada', brew: 'Filter', wishes: 'Oat milk, please' }, 'Oat milk, please · Filter'],
    [
      { company: 'Acme', site: 'https://a.very.long.example/with/a/path', q: 'May I?' },
      'May I? · Acme · https://a.very.long.example/with/a/path',
    ],
    [{ name: 'Ada', url: 'https://example.com', plan: 'Pro' }, 'Pro · https://example.com'],
    [{ email: 'a@b.c' }, ''],
    [{ name: 'Ada', Nachricht: 'Ja', text: 'Ein Satz' }, 'Ein Satz · Ja'],
    [{ name: 'Ada', message: ' ', other: 'Only this' }, 'Only this'],
  ])('leads with its message: %#', (fields, preview) =>
    expect(toPreviewText(of(fields as never, { email: 'a@b.c' }))).toBe(preview),
  )

  test.each([
    ['first_name', 'First name'],
    ['first-name', 'First name'],
    ['firstName', 'First name'],
    ['FAQ', 'FAQ'],
    ['orderID', 'OrderID'],
    ['kilos_per_week', 'Kilos per week'],
    ['contact[email]', 'Contact email'],
    ['sizes[]', 'Sizes'],
    ['straße', 'Straße'],
    ['___', '___'],
    ['Your message', 'Your message'],
  ])('has readable names of fields: %s', (name, readable) => expect(toReadableName(name)).toBe(readable))

  test('has labels in place of names, also of fields that are named like members of objects', () => {
    const labels = { mail: 'Email' }
    const label = (name: string) => toFieldLabel(labels, name)
    expect(['mail', 'constructor', 'toString'].map(label)).toEqual(['Email', 'Constructor', 'To string'])
  })

  test('is answered with its message quoted, in an address that no text breaks', () => {
    const submission = of(
      { name: 'Ada\r\nBcc: x', message: 'One\nTwo' },
      { email: 'a@b.c', formName: 'Contact\r\nus' },
    )
    expect(toReplySubject(submission)).toBe('Re: Contact us')
    const text = quoteMessage(submission, 'Monday')
    expect(text).toBe('\n\nOn Monday, Ada Bcc: x wrote:\n> One\n> Two\n')
    expect(toMailto('a&cc=v@b.c', 'Hi&bcc=v', 'a\n\u{1f600}')).toBe(
      'mailto:a%26cc%3Dv@b.c?subject=Hi%26bcc%3Dv&body=a%0D%0A%F0%9F%98%80',
    )
    expect(toMailto('a@b.c', 'x', '\u{1f600}'.repeat(5_000)).length).toBeLessThanOrEqual(1_800)
    expect(
      fillTemplate('{{ name }} {{gone}} {{toString}} {{message}}', of({ name: '{{message}}', message: 'M' })),
    ).toBe('{{message}} {{gone}} {{toString}} M')
  })

  test('links only to web addresses', () => {
    expect(
      [' https://x.y/ ', 'HTTP://x', 'javascript:1', 'https://', 'see https://x.y', null].map(findWebUrl),
    ).toEqual(['https://x.y/', 'HTTP://x', undefined, undefined, undefined, undefined])
  })
})

describe('the settings', () => {
  test('name who did what to whom', () => {
    const actors = (['key', 'operator', 'system', 'unknown', 'user'] as const).map((type) => ({
      type,
      name: null,
    }))
    expect(actors.map((actor) => toActorText(actor as never))).toEqual([
      'API key',
      'Operator (command line)',
      'The server',
      'Unknown',
      'A deleted account',
    ])
    expect(toActorText({ type: 'key', name: 'Build' } as never)).toBe('API key Build')
    expect(actors.map((actor) => toActorFilter(actor as never))).toEqual(actors.map(({ type }) => type))
    expect(toActorFilter({ type: 'user', name: 'a@b.c' } as never)).toBe('a@b.c')
    const targets = [
      null,
      { type: 'link', id: 3, name: null },
      { type: 'link', id: null, name: null },
      { type: 'link', id: 3, name: 'Sale' },
    ]
    expect(targets.map((target) => toTargetText(target as never))).toEqual(['', 'link 3', '', 'Sale'])
    const at = '2026-05-01T10:00:00.000Z'
    expect(
      toDetailText({ from: 'member', roleNow: ['a', 'b'], none: null, empty: [], at, n: 0 } as never),
    ).toBe(`from: member · role now: a, b · at: ${formatTime(at)} · n: 0`)
  })

  test('say what a key may do', () => {
    expect(toScopeText(['*'])).toBe('Full access')
    expect(toScopeText(['links:read', 'analytics:read', 'forms:read', 'submissions:read'])).toBe('Read only')
    expect(toScopeText(['links:read', 'analytics:read', 'forms:read', 'links:write'])).toContain(
      'links:write',
    )
    expect(toScopeText(['links:read'])).toBe('links:read')
  })

  test('name DNS records as providers do', () => {
    expect(
      ['go.example.com', 'example.com', 'go.shop.co.uk', 'co.uk', 'go.co.example'].map(guessZone),
    ).toEqual(['example.com', 'example.com', 'shop.co.uk', 'co.uk', 'co.example'])
    expect(toRelativeName('_towpath.go.x.y', 'x.y')).toBe('_towpath.go')
    expect([toRelativeName('x.y', 'x.y'), toRelativeName('ax.y', 'x.y')]).toEqual(['@', 'ax.y'])
  })
})

describe('an import', () => {
  const of = (fields: object) =>
    ({
      source: 'csv',
      status: 'done',
      dryRun: false,
      stage: 'links',
      progress: 0,
      startedAt: 'x',
      problem: null,
      created: 0,
      renamed: 0,
      skipped: 0,
      failed: 0,
      clicks: 0,
      kept: [],
      undoneAt: null,
      undoableUntil: null,
      ...fields,
    }) as unknown as ImportResource
  const canceled = { status: 'undone', startedAt: null }

  test.each([
    [{ status: 'queued' }, 'Waiting', 'Nothing has changed'],
    [{ status: 'running', progress: 0.129 }, `Running, ${formatPercent(0.12)}`, 'Nothing to import'],
    [{ status: 'running', stage: 'undo' }, 'Undoing', 'Nothing to import'],
    [{ status: 'failed' }, 'Failed', 'Nothing to import'],
    [canceled, 'Canceled', 'Nothing has changed'],
    [{ status: 'undone', created: 2 }, 'Undone', '2 created'],
    [{ dryRun: true, created: 2 }, 'Dry run', '2 would be created'],
    [{ failed: 1, created: 1, renamed: 1 }, 'Done, with errors', '1 created, 1 of them renamed, 1 error'],
    [{ skipped: 3, clicks: 1 }, 'Done', '3 skipped, 1 click'],
  ])('with %p is %p: %p', (fields, label, figures) => {
    expect([toImportState(of(fields)).label, toFiguresText(of(fields))]).toEqual([label, figures])
  })

  test.each<[object, string, string]>([
    [{ status: 'failed', dryRun: true }, 'This can’t be imported', 'The import has failed.'],
    [{ status: 'failed', problem: 'No rows' }, 'Nothing was imported', 'No rows'],
    [{ status: 'failed', created: 1 }, 'The import has stopped early', 'The import has failed.'],
    [canceled, 'Canceled', 'Nothing has changed.'],
    [
      { status: 'undone', undoneAt: iso(NOW) },
      'The import is undone',
      `Undone on ${formatDay(iso(NOW))}. Everything that it had created is gone.`,
    ],
    [{ status: 'undone', kept: [1] }, 'The import is undone', '1 link stayed: see the reasons below.'],
    [{ created: 2, source: 'towpath' }, '2 items imported', ''],
    [
      { created: 1, skipped: 1, failed: 1 },
      '1 link imported',
      '2 rows were left out: see the reasons below.',
    ],
    [{ created: 1, dryRun: true }, '1 link would be created', 'This was a dry run: nothing has changed yet.'],
    [{ dryRun: true }, 'Nothing would be created', 'This was a dry run: nothing has changed yet.'],
  ])('with %p has the outcome %p, %p', (fields, title, text) =>
    expect(describeOutcome(of(fields))).toMatchObject({ title, text }),
  )

  test('can be undone while there is something to undo, for some time', () => {
    const undoable = { created: 1, undoableUntil: iso(NOW + 1) }
    const cases = [
      {},
      { dryRun: true },
      { status: 'undone' },
      { status: 'failed' },
      { created: 0 },
      { created: 0, clicks: 1 },
      { undoableUntil: null },
      { undoableUntil: iso(NOW) },
    ]
    expect(cases.map((fields) => canUndo(of({ ...undoable, ...fields }), NOW))).toEqual([
      true,
      false,
      false,
      true,
      false,
      true,
      false,
      false,
    ])
    expect([toSourcePhrase('csv'), toSourcePhrase('dub')]).toEqual(['a CSV file', 'Dub'])
  })
})

test('the countries that people choose from are those that a visitor can have', () =>
  expect([...COUNTRIES].sort()).toEqual([...COUNTRY_CODES].sort()))

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { quick } from '../../../tests/support/suite.ts'
import {
  formRow,
  insertRows,
  linkRow,
  tagRow,
  useDatabase,
  workspaceRow,
} from '../../../tests/support/test-rows.ts'
import { ENGINES } from '../../../tests/support/world.ts'
import { CONTINENTS } from '../../storage/continents.ts'
import type { DatabaseHandle } from '../../storage/database/open-database.ts'
import { toNullLabel } from '../../storage/filter-grammar.ts'
import type { ColumnFilter } from '../../storage/filter-sql.ts'
import { ORIGIN_DIMENSIONS } from '../../storage/sources/origin-sql.ts'
import { TRAFFIC_CHANNELS, toSource, toTrafficChannel } from '../../storage/sources/traffic-channel.ts'
import { ATTRIBUTION_MODELS } from './attribution-model.ts'
import {
  countLeads,
  LEAD_DIMENSIONS,
  type LeadColumn,
  type LeadCount,
  type LeadGrouping,
  type LeadSelection,
} from './count-leads.ts'

const SPAN = 100_000
/** Few values, so that filters match leads. Some are similar, some look like SQL, and one is the null label. */
const VALUES = [null, 'a', 'A', 'b', 'é', '', 'Unknown', "x'--", '😀']
const COUNTRIES = [null, 'DE', 'US', 'BR', 'XX']
const LINKS = [null, 1, 2, 3, 4]
const DOMAINS = ['', 'go.example']
const FORMS = ['aaaaaaaaaa', 'bbbbbbbbbb']

const pick = <T>(values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values)

const source = {
  linkId: pick(LINKS),
  referrer: pick([
    ...VALUES,
    'm.facebook.com',
    'google.co.uk',
    'mail.google.com',
    'com.google.android.gm',
    'dot..com',
  ]),
  utmSource: pick([...VALUES, 'FB', 'Hacker_News']),
  utmMedium: pick([...VALUES, 'CPC', 'paid_social', 'E-Mail', 'e mail']),
  utmCampaign: pick(VALUES),
  utmTerm: pick(VALUES),
  utmContent: pick(VALUES),
}
const place = {
  page: pick(VALUES),
  device: pick(['mobile', 'Mobile', null]),
  browser: pick(['Chrome', 'chrome', 'Firefox']),
  os: pick(['iOS', null]),
  country: pick(COUNTRIES),
  region: pick(VALUES),
  city: pick(VALUES),
}

const anyLead = fc.record({
  at: fc.integer({ min: 0, max: SPAN }),
  workspaceId: pick([1, 1, 1, 2]),
  form: pick([0, 1]),
  status: pick(['new', 'read', 'archived', 'spam']),
  duplicate: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
  isPending: pick([false, false, false, true]),
  visitor: fc.option(fc.integer({ min: 1, max: 60 }).map(String), { freq: 20 }),
  ...source,
  ...place,
  touches: fc.array(fc.record({ ...source, variant: pick(VALUES) }), { maxLength: 3 }),
})
type Lead = ReturnType<typeof sample>[number]
const sample = () => fc.sample(anyLead, { numRuns: 1500, seed: 5 })

const COLUMNS: LeadColumn[] = [
  'linkId',
  'form',
  'page',
  ...LEAD_DIMENSIONS,
  ...ORIGIN_DIMENSIONS,
  ...ORIGIN_DIMENSIONS,
]
/** A tag can have so many links that a range of leads asks for its own ones only. */
const OTHER_LINKS = Array.from({ length: 600 }, (_, n) => 1000 + n)
const anyFilter: fc.Arbitrary<ColumnFilter<LeadColumn>> = pick(COLUMNS).chain((column) =>
  fc.record({
    column: fc.constant(column),
    values: fc
      .array(
        pick<string | number | null>(
          column === 'linkId'
            ? [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
            : [...VALUES, ...FORMS, 'DE', 'EU', 'MOBILE', 'CHROME', 'Facebook', ...TRAFFIC_CHANNELS],
        ),
        { maxLength: 12 },
      )
      .map((values) => (column === 'linkId' && values.length > 6 ? [...values, ...OTHER_LINKS] : values)),
    negate: fc.boolean(),
  }),
)
const limit = fc.integer({ min: 1, max: 10 })
const anyGrouping: fc.Arbitrary<LeadGrouping> = fc.oneof(
  fc.constant({ by: 'total' as const }),
  fc
    .uniqueArray(fc.integer({ min: 1, max: SPAN }), { maxLength: 30 })
    .map((starts) => ({ by: 'time' as const, starts: [0, ...starts].sort((a, b) => a - b) })),
  fc.record({ by: pick([...COLUMNS, 'domain', 'slug'] as const), limit }),
  fc.record({
    by: fc.constant('tagId' as const),
    limit,
    among: fc.option(fc.record({ ids: fc.subarray([1, 2, 3]), negate: fc.boolean() }), { nil: undefined }),
  }),
)
const anySelection: fc.Arbitrary<LeadSelection> = fc.record({
  workspaceId: pick([1, 2, 3]),
  start: fc.integer({ min: 0, max: SPAN }),
  end: fc.integer({ min: 0, max: SPAN }),
  model: pick(ATTRIBUTION_MODELS),
  filters: fc.array(anyFilter, { maxLength: 3 }),
})

const domainOf = (link: number) => DOMAINS[link % 2] as string
const slugOf = (link: number) => (link < 3 ? 'spring' : `slug${link}`)
const TAGS = new Map([
  [1, [1, 2]],
  [2, [2]],
  [3, []],
  [4, [1, 2, 3]],
])

/** The millionths of each touch, as literals. */
const PARTS: Record<number, number[]> = {
  1: [1_000_000],
  2: [500_000, 500_000],
  3: [333_333, 333_333, 333_334],
}

/** Counts the same from a list, in the simplest way. */
function count(leads: Lead[], asked: LeadSelection, grouping: LeadGrouping): LeadCount[] {
  type Credit = Omit<Lead, 'form'> & {
    form: string
    continent: string | null
    variant: string | null
    part: number
  }
  const credits = leads.flatMap((lead): Credit[] => {
    if (lead.workspaceId !== asked.workspaceId || lead.at < asked.start || lead.at >= asked.end) return []
    if (lead.duplicate || lead.status === 'spam') return []
    const touches = lead.touches.length > 0 ? lead.touches : [lead]
    const whole = {
      ...lead,
      form: FORMS[lead.form] as string,
      continent: (lead.country && CONTINENTS.get(lead.country)) || null,
    }
    const credit = (touch: (typeof touches)[number] | undefined, part: number): Credit => {
      const { linkId, referrer, utmSource, utmMedium, utmCampaign, utmTerm, utmContent } = touch as Lead
      const variant = touch && 'variant' in touch ? touch.variant : null
      const campaign = { utmSource, utmMedium, utmCampaign, utmTerm, utmContent }
      return { ...whole, linkId, referrer, ...campaign, variant, part }
    }
    if (asked.model === 'first') return [credit(touches[0], 1_000_000)]
    if (asked.model === 'last') return [credit(touches.at(-1), 1_000_000)]
    return touches.map((touch, n) => credit(touch, PARTS[touches.length]?.[n] as number))
  })
  const caseless = (column: LeadColumn, value: unknown) =>
    ['device', 'browser', 'os'].includes(column) && typeof value === 'string' ? value.toLowerCase() : value
  const fieldOf = (each: Credit, column: LeadColumn) =>
    column === 'linkId'
      ? (each.linkId ?? 0)
      : column === 'source'
        ? toSource(each)
        : column === 'channel'
          ? toTrafficChannel(each)
          : each[column]
  const isDecided = ({ isPending, linkId }: Credit) => !isPending || linkId !== null
  const passes = (each: Credit, { column, values, negate }: ColumnFilter<LeadColumn>) =>
    (column !== 'linkId' || isDecided(each)) &&
    values.some((value) => caseless(column, value) === caseless(column, fieldOf(each, column))) !== negate
  const keysOf = (each: Credit): LeadCount['key'][] => {
    if (['linkId', 'domain', 'slug'].includes(grouping.by) && !isDecided(each)) return []
    switch (grouping.by) {
      case 'total':
        return [null]
      case 'time':
        return [grouping.starts.filter((at) => at <= each.at).at(-1) as number]
      case 'tagId': {
        const { among } = grouping
        const tags = (each.linkId && TAGS.get(each.linkId)) || []
        return among ? tags.filter((tag) => among.ids.includes(tag) !== among.negate) : tags
      }
      case 'domain':
        return [each.linkId && domainOf(each.linkId)]
      case 'slug':
        return [each.linkId && slugOf(each.linkId)]
      default:
        return [fieldOf(each, grouping.by) ?? toNullLabel(grouping.by)]
    }
  }
  const found = new Map<LeadCount['key'], Credit[]>(grouping.by === 'total' ? [[null, []]] : [])
  for (const each of credits) {
    if (!asked.filters.every((filter) => passes(each, filter))) continue
    for (const key of keysOf(each)) {
      const its = found.get(key)
      if (its) its.push(each)
      else found.set(key, [each])
    }
  }
  const rows = [...found].map(([key, its]) => ({
    key,
    leads: its.reduce((sum, each) => sum + each.part, 0) / 1_000_000,
    visitors: new Set(its.flatMap((each) => each.visitor ?? [])).size,
  }))
  const byKey = (a: LeadCount, b: LeadCount) => {
    // With equal counts, a missing key comes first.
    if (a.key === null || b.key === null) return Number(b.key === null) - Number(a.key === null)
    return typeof a.key === 'number'
      ? a.key - Number(b.key)
      : Buffer.compare(Buffer.from(`${a.key}`), Buffer.from(`${b.key}`))
  }
  if (grouping.by === 'total' || grouping.by === 'time') return rows.sort(byKey)
  return rows.sort((a, b) => b.leads - a.leads || byKey(a, b)).slice(0, grouping.limit)
}

const inParts = <T>(all: T[], size = 250): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, (n + 1) * size))

async function seed(db: DatabaseHandle, leads: Lead[]) {
  const utm = (of: Pick<Lead, keyof typeof source>) => ({
    link_id: of.linkId,
    referrer: of.referrer,
    utm_source: of.utmSource,
    utm_medium: of.utmMedium,
    utm_campaign: of.utmCampaign,
    utm_term: of.utmTerm,
    utm_content: of.utmContent,
  })
  await insertRows(db, {
    workspaces: [1, 2].map((id) => workspaceRow({ id })),
    forms: [1, 2].flatMap((workspace_id) =>
      FORMS.map((key, n) =>
        formRow({
          id: workspace_id * 10 + n,
          workspace_id,
          form_key: workspace_id === 1 ? key : key.toUpperCase(),
        }),
      ),
    ),
    links: [1, 2, 3, 4].map((id) =>
      linkRow({
        id,
        domain: domainOf(id),
        slug: slugOf(id).toUpperCase(),
        deleted_at: id === 3 ? 1 : null,
      }),
    ),
    tags: [1, 2, 3].map((id) => tagRow({ id, name: `t${id}` })),
    link_tags: [...TAGS].flatMap(([link_id, tags]) =>
      tags.map((tag_id) => ({ link_id, tag_id, workspace_id: 1 })),
    ),
  })
  await db.write(async (connection) => {
    const submissions = leads.map((lead, index) => ({
      id: index + 1,
      workspace_id: lead.workspaceId,
      form_id: lead.workspaceId * 10 + lead.form,
      fields: '[]',
      search_text: '',
      fingerprint: `${index + 1}`,
      status: lead.status,
      duplicate_of: lead.duplicate ? 1 : null,
      visitor: lead.visitor,
      attribution_due: Number(lead.isPending),
      page_url: lead.page,
      device: lead.device,
      browser: lead.browser,
      os: lead.os,
      country: lead.country,
      region: lead.region,
      city: lead.city,
      created_at: lead.at,
      ...utm(lead),
    }))
    const touches = leads.flatMap((lead, index) =>
      lead.touches.map((touch, position) => ({
        submission_id: index + 1,
        workspace_id: lead.workspaceId,
        position,
        touches: lead.touches.length,
        at: lead.at,
        kind: 'click' as const,
        variant: touch.variant,
        ...utm(touch),
      })),
    )
    // A statement has a limited number of parameters.
    for (const some of inParts(submissions)) await connection.insertInto('submissions').values(some).execute()
    for (const some of inParts(touches)) await connection.insertInto('touches').values(some).execute()
  })
}

describe.each(ENGINES)('leads (%s)', (engine) => {
  const leads = sample()
  const rows = useDatabase(engine, (db) => seed(db, leads))

  // Forms of the second workspace have other keys, because a key is unique on the server.
  const named = (answers: LeadCount[], asked: LeadSelection, { by }: LeadGrouping) =>
    by === 'form' && asked.workspaceId === 2
      ? answers.map((each) => ({ ...each, key: String(each.key).toLowerCase() }))
      : answers
  const renamed = (asked: LeadSelection): LeadSelection => ({
    ...asked,
    filters: asked.filters.map((filter) => ({
      ...filter,
      values:
        filter.column === 'form' && asked.workspaceId === 2
          ? filter.values.map((value) => (typeof value === 'string' ? value.toUpperCase() : value))
          : filter.values,
    })),
  })

  quick(
    'are counted as in the list, with every model',
    async () => {
      await fc.assert(
        fc.asyncProperty(anySelection, anyGrouping, async (asked, grouping) => {
          // Links belong to one workspace. Leads of the other workspace with these link ids get no names from them.
          const theirs = ['tagId', 'domain', 'slug'].includes(grouping.by) && asked.workspaceId !== 1
          const selection = theirs ? { ...asked, workspaceId: 1 } : asked
          const found = await countLeads(rows.db, renamed(selection), grouping)
          expect(named(found, selection, grouping)).toEqual(count(leads, selection, grouping))
        }),
        { numRuns: 1000 },
      )
    },
    240_000,
  )

  test('have the same sum in every grouping, except pending ones in groups of links', async () => {
    const all = { workspaceId: 1, start: 0, end: SPAN + 1, filters: [] }
    const [whole = 0] = (await countLeads(rows.db, { ...all, model: 'last' }, { by: 'total' })).map(
      (a) => a.leads,
    )
    expect(whole).toBeGreaterThan(500)
    for (const model of ATTRIBUTION_MODELS) {
      // Groups of links, and of no link, leave out only leads with pending attribution.
      const anyLink = { column: 'linkId' as const, values: [], negate: true }
      const ofLinks = await countLeads(rows.db, { ...all, model, filters: [anyLink] }, { by: 'total' })
      const decided = ofLinks[0]?.leads ?? 0
      expect(decided).toBeLessThan(whole)
      for (const by of [...COLUMNS, 'domain', 'slug'] as const) {
        const groups = await countLeads(rows.db, { ...all, model }, { by, limit: 1000 })
        const sum = groups.reduce((so, { leads }) => so + Math.round(leads * 1_000_000), 0)
        const isAboutLinks = ['linkId', 'domain', 'slug'].includes(by)
        expect([model, by, sum / 1_000_000]).toEqual([model, by, isAboutLinks ? decided : whole])
      }
    }
  })

  test('do not show names of another workspace’s links', async () => {
    const theirs: LeadSelection = { workspaceId: 2, start: 0, end: SPAN, model: 'linear', filters: [] }
    expect(await countLeads(rows.db, theirs, { by: 'tagId', limit: 10 })).toEqual([])
    const domains = await countLeads(rows.db, theirs, { by: 'domain', limit: 10 })
    expect(domains.map(({ key }) => key)).toEqual([null])
  })

  test('are counted in 800 years of months with a short statement', async () => {
    const starts = Array.from({ length: 9800 }, (_, month) => Date.UTC(1200, month))
    const asked: LeadSelection = {
      workspaceId: 1,
      start: starts[0] as number,
      end: Date.UTC(2017, 0),
      model: 'last',
      filters: [],
    }
    const answers = await countLeads(rows.db, asked, { by: 'time', starts })
    expect(answers).toEqual(count(leads, asked, { by: 'time', starts }))
  })
})

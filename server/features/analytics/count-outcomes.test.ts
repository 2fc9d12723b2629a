import { expect, test } from 'bun:test'
import type { Insertable } from 'kysely'
import { createRandom } from '../../../tests/support/random.ts'
import { atScale } from '../../../tests/support/suite.ts'
import { onBothEngines, type TestServer } from '../../../tests/support/world.ts'
import { toDecimalText, toSmallestUnits } from '../../lib/money/amount.ts'
import type { Connection } from '../../storage/database/database.ts'
import type { Tables } from '../../storage/database/tables.ts'
import { insertSubmissions } from '../forms/submissions/submission.fixture.ts'

const MODELS = ['first', 'last', 'linear']
const DAY_MS = 86_400_000
const OUTCOMES = atScale({ quick: 100, full: 1200, soak: 4000 })
const QUESTIONS = atScale({ quick: 3, full: 12, soak: 12 })

/** `rows` in statements of some hundred values. */
async function insert<Name extends 'touches' | 'outcomes'>(
  connection: Connection,
  table: Name,
  rows: Insertable<Tables[Name]>[],
) {
  for (let at = 0; at < rows.length; at += 50)
    await connection
      .insertInto(table)
      .values(rows.slice(at, at + 50) as never)
      .execute()
}

async function createPlace(server: TestServer) {
  const ws = await server.createWorkspace()
  const { formKey } = await ws.createForm({ name: 'Quote' })
  const { id: formId } = await server.row('forms', { form_key: formKey })
  const ask = async (path: string) => {
    const { status, json } = await ws.api(`/analytics/${path}`)
    expect([path, status]).toEqual([path, 200])
    return json
  }
  return { ws, formKey, formId, ask }
}

onBothEngines('outcomes in analytics', (server) => {
  test('are counted at their own time, by the touches of their lead, in one currency', async () => {
    const { ws, formId, ask } = await createPlace(server())
    const link = await ws.createLink({ tagNames: ['ads'] })
    const now = server().now()
    await server().app.db.write(async (connection) => {
      const lead = { announced: 1, country: 'DE', created_at: now - 60 * DAY_MS }
      const form = { workspaceId: ws.id, formId }
      const ids = await insertSubmissions(connection, form, [
        { ...lead, link_id: link.id, utm_campaign: 'last' },
        { ...lead, created_at: now },
        { ...lead, announced: 0 },
      ])
      const own = { workspace_id: ws.id, at: now, kind: 'click' }
      await insert(
        connection,
        'touches',
        [0, 1, 2].map((position) => ({
          ...own,
          submission_id: ids[0] as number,
          position,
          touches: 3,
          link_id: position === 0 ? link.id : null,
          utm_campaign: position === 0 ? 'first' : 'last',
        })),
      )
      const outcome = (
        lead: number,
        stage: string,
        value: string | null = null,
        currency = 'EUR',
        at = now,
      ) => ({
        workspace_id: ws.id,
        submission_id: ids[lead] as number,
        stage,
        value,
        currency: value === null ? null : currency,
        at,
        created_at: now,
        updated_at: now,
      })
      await insert(connection, 'outcomes', [
        outcome(0, 'qualified', '7.00'),
        outcome(0, 'qualified'),
        outcome(0, 'won', '10.00'),
        outcome(0, 'won', '0.01'),
        outcome(0, 'won', '5.00', 'USD'),
        outcome(1, 'lost', '9.00'),
        outcome(1, 'won', '99.00', 'EUR', now - 40 * DAY_MS),
        outcome(2, 'won', '99.00'),
      ])
    })
    const money = { currency: 'EUR', otherCurrencies: ['USD'] }
    const total = await ask('leads')
    expect(total).toMatchObject({ data: { leads: 1, qualified: 1, won: 1, value: '10.01' }, ...money })
    expect(await ask('leads?interval=90d')).toMatchObject({ data: { leads: 2, won: 2, value: '109.01' } })
    expect(await ask('leads?currency=usd')).toMatchObject({
      data: { won: 1, value: '5.00' },
      currency: 'USD',
      otherCurrencies: ['EUR'],
    })
    expect(await ask('leads?currency=JPY')).toMatchObject({
      data: { value: '0' },
      otherCurrencies: ['EUR', 'USD'],
    })
    expect(await ask('funnel')).toMatchObject({
      data: { clicks: 0, leads: 1, qualified: 1, won: 1, value: '10.01' },
      ...money,
    })
    expect((await ask('leads?groupBy=utmCampaign&model=linear')).data).toEqual([
      { utmCampaign: 'Unknown', leads: 1, visitors: 0, qualified: 0, won: 0, value: '0.00' },
      { utmCampaign: 'first', leads: 0, visitors: 0, qualified: 0.333333, won: 0.333333, value: '3.3366' },
      { utmCampaign: 'last', leads: 0, visitors: 0, qualified: 0.666667, won: 0.666667, value: '6.6734' },
    ])
    expect((await ask('leads?groupBy=utmCampaign&limit=1')).data).toHaveLength(1)
    const linkRow = { link: link.id, leads: 0, qualified: 1, won: 1, value: '10.01' }
    for (const path of ['leads', 'funnel']) {
      const byLink = (await ask(`${path}?groupBy=link&model=first`)).data
      expect(byLink.find((row: { link: number | null }) => row.link === link.id)).toMatchObject(linkRow)
      expect((await ask(`${path}?groupBy=tag&model=first`)).data).toMatchObject([{ name: 'ads', won: 1 }])
      expect((await ask(`${path}?linkId=${link.id}&model=last`)).data).toMatchObject({
        won: 0,
        value: '0.00',
      })
      expect((await ask(`${path}?groupBy=country&country=FR`)).data).toEqual([])
      expect((await ask(`${path}?tagId=${link.tags[0].id}&model=first&source=(direct)`)).data.won).toBe(1)
    }
    const days = (await ask('leads?groupBy=time&granularity=day')).data
    expect(days.at(-1)).toMatchObject({ leads: 1, qualified: 1, won: 1, value: '10.01' })
    expect(days.filter(({ won }: { won: number }) => won > 0)).toHaveLength(1)
    expect((await ws.api('/analytics/leads?currency=ABC')).json.errors).toEqual({
      currency: 'must be a currency of ISO 4217, such as EUR',
    })
    const elsewhere = await createPlace(server())
    const none = await elsewhere.ask('funnel')
    expect([Object.keys(none), none.data]).toMatchObject([['data'], { qualified: 0, won: 0, value: null }])
  })

  test('add up to the sum of all outcomes under every model and in every grouping', async () => {
    const { ws, formId, ask } = await createPlace(server())
    const random = createRandom('values of outcomes')
    const pick = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)] as T
    const links = [await ws.createLink(), await ws.createLink(), { id: null }]
    const now = server().now()
    const sums = new Map<string, bigint>()
    const won = new Set<number>()
    await server().app.db.write(async (connection) => {
      const leads = Array.from({ length: 60 }, () => ({
        announced: 1,
        link_id: pick(links).id,
        utm_source: pick([null, 'ads', 'mail']),
        country: pick([null, 'DE', 'US']),
        created_at: now - Math.floor(random() * 25 * DAY_MS),
      }))
      const ids = await insertSubmissions(connection, { workspaceId: ws.id, formId }, leads)
      const touches = ids.flatMap((submission_id) => {
        const count = Math.floor(random() * 8)
        return Array.from({ length: count }, (_, position) => ({
          workspace_id: ws.id,
          submission_id,
          position,
          touches: count,
          at: now,
          kind: 'click',
          link_id: pick(links).id,
          utm_campaign: pick([null, 'a', 'b']),
          utm_source: pick([null, 'ads']),
        }))
      })
      await insert(connection, 'touches', touches)
      const outcomes = Array.from({ length: OUTCOMES }, () => {
        const submission_id = pick(ids)
        const currency = pick(['EUR', 'EUR', 'JPY', 'KWD'])
        // Two of the greatest values are more than 64 bits hold in smallest units of four places.
        const value = pick(['999999999999999', '0', '0.01', '7', `${Math.floor(random() * 1e6)}.1`])
        won.add(submission_id)
        sums.set(currency, (sums.get(currency) ?? 0n) + toSmallestUnits(value, currency))
        const at = now - Math.floor(random() * 25 * DAY_MS)
        return {
          workspace_id: ws.id,
          submission_id,
          stage: 'won',
          value,
          currency,
          at,
          created_at: now,
          updated_at: now,
        }
      })
      await insert(connection, 'outcomes', outcomes)
    })
    const groupings = ['link', 'utmCampaign', 'source', 'country', 'form', 'domain', 'slug', 'time']
    for (const [currency, sum] of sums) {
      for (const model of currency === 'EUR' ? MODELS : ['linear']) {
        const query = `model=${model}&currency=${currency}`
        expect((await ask(`leads?${query}`)).data.value).toBe(toDecimalText(sum, currency))
        const questions = [
          ...groupings.map((by) => `leads?groupBy=${by}&${query}`),
          ...['link', 'campaign', 'source', 'country'].map((by) => `funnel?groupBy=${by}&${query}`),
        ]
        for (const question of questions.slice(0, currency === 'EUR' ? QUESTIONS : 3)) {
          const rows: { value: string; won: number }[] = (await ask(question)).data
          const values = rows.map(({ value }) => toSmallestUnits(value, currency))
          const added = values.reduce((all, value) => all + value, 0n)
          expect([question, toDecimalText(added, currency)]).toEqual([question, toDecimalText(sum, currency)])
          const leads = rows.reduce((all, row) => all + row.won, 0)
          expect([question, Math.round(leads * 1e6)]).toEqual([question, won.size * 1e6])
        }
      }
    }
  })
})

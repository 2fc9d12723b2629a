import { expect, test } from 'bun:test'
import { nextSenderAddress } from '../../../tests/support/form-requests.ts'
import { BROWSER_USER_AGENT, onBothEngines, type TestServer } from '../../../tests/support/world.ts'
import { extractAdClickIds } from '../visitors/ad-click-ids.ts'

const SHOP = 'https://shop.example'

/** A workspace with a form, and a visitor who comes by an ad through a short link. */
async function createPlace(server: TestServer, settings: object) {
  const ws = await server.createWorkspace()
  const { formKey } = await ws.createForm({ name: 'Quote', ...settings })
  const link = await ws.createLink({
    destinationUrl: `${SHOP}/spring`,
    forwardQuery: true,
    trackConversions: true,
  })
  const headers = { 'User-Agent': BROWSER_USER_AGENT, 'X-Forwarded-For': nextSenderAddress() }
  const click = async (query: string) =>
    (await server.click(`${link.slug}?${query}`, headers)).headers.get('location') as string
  const see = async (u: string, e?: string) => {
    const body = JSON.stringify({ w: ws.publicId, u, r: '', ...(e && { e }) })
    const answer = await server.post('/e', body, { ...headers, 'Content-Type': 'text/plain' })
    return answer.json.e as string
  }
  /** @returns the stored submission */
  const submit = async (fields: object, more: Record<string, string> = {}) => {
    expect(
      (await server.submit(formKey, { email: 'ada@example.com', ...fields }, { ...headers, ...more })).status,
    ).toBe(200)
    return (await ws.api('/submissions?limit=1')).json.data[0]
  }
  return { ws, link, click, see, submit }
}

onBothEngines('the click ids of ad networks', (server) => {
  test('are kept of the credited click, where the form asks for them', async () => {
    const { ws, link, click, see, submit } = await createPlace(server(), { adClickIds: true })
    const page = await click('gclid=Cj0KCQ-x_1.2&fbclid=IwAR0&token=secret')
    expect(page).toContain('gclid=Cj0KCQ-x_1.2')
    const eventId = await see(`${SHOP}/contact`, await see(page))
    const sent = await submit({ _service_eid: eventId })
    expect(sent).toMatchObject({ linkId: link.id, adClickIds: { gclid: 'Cj0KCQ-x_1.2', fbclid: 'IwAR0' } })
    // Without the snippet, only the page's address can tell.
    const plain = await submit({ message: 'again' }, { Referer: await click('wbraid=Clg123') })
    expect(plain.adClickIds).toEqual({ wbraid: 'Clg123' })
    expect((await submit({ message: 'third' }, { Referer: `${SHOP}/` })).adClickIds).toBeUndefined()
    const optedOut = await submit({ message: 'fourth' }, { Referer: page, 'Sec-GPC': '1' })
    expect(optedOut.adClickIds).toBeUndefined()

    const at = '2026-05-10T10:00:00.000Z'
    const outcomes = [
      { submissionId: sent.id, stage: 'won', value: '1299.5', currency: 'EUR', at, externalId: '=1+1' },
      { submissionId: sent.id, stage: 'qualified', at: '2026-05-09T23:59:59.999+02:00' },
      { submissionId: sent.id, stage: 'lost', at },
      { submissionId: plain.id, stage: 'won', value: '7', currency: 'JPY', at },
    ]
    expect((await ws.post('/outcomes', outcomes)).status).toBe(201)
    const download = async (query: string) => {
      const { status, text, headers } = await ws.api(`/outcomes/export?${query}`)
      expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8; header=present'])
      return text.trim().split('\r\n')
    }
    expect(await download('format=google-ads')).toEqual([
      'Parameters:TimeZone=+0000',
      'Google Click ID,Conversion Name,Conversion Time,Conversion Value,Conversion Currency',
      'Cj0KCQ-x_1.2,Qualified lead,2026-05-09 21:59:59+0000,,',
      'Cj0KCQ-x_1.2,Converted lead,2026-05-10 10:00:00+0000,1299.50,EUR',
    ])
    const named = await download('format=google-ads&clickIdType=wbraid&conversionName=Sale, big&stage=won')
    expect(named.slice(1)).toEqual([
      'WBRAID,Conversion Name,Conversion Time,Conversion Value,Conversion Currency',
      'Clg123,"Sale, big",2026-05-10 10:00:00+0000,7,JPY',
    ])
    const table = await download('stage=won&currency=EUR')
    expect(table[0]).toBe(
      'id,submissionId,form,linkId,clickId,email,stage,value,currency,at,externalId,gclid,gbraid,wbraid,msclkid,fbclid',
    )
    expect(table).toHaveLength(2)
    expect(table[1]).toContain(`,ada@example.com,won,1299.50,EUR,${at},'=1+1,Cj0KCQ-x_1.2,,,,IwAR0`)
    for (const query of ['format=xml', 'conversionName=a', 'format=google-ads&clickIdType=fbclid', 'start=x'])
      expect((await ws.api(`/outcomes/export?${query}`)).status).toBe(422)
    expect((await ws.api('/outcomes/export?format=google-ads&conversionName=%20')).status).toBe(422)
  })

  test('are not kept by other forms', async () => {
    const { click, see, submit } = await createPlace(server(), {})
    const page = await click('gclid=Cj0KCQ')
    const sent = await submit({ _service_eid: await see(page) }, { Referer: page })
    expect([sent.sessionLinked, sent.adClickIds]).toEqual([true, undefined])
  })
})

test.each([
  ['', undefined],
  ['utm_source=gclid', undefined],
  ['gclid=', undefined],
  ['xgclid=a', undefined],
  ['gclid=a', 'gclid=a'],
  ['a=1&gclid=a-b.c_d~e&b=2&msclkid=f', 'gclid=a-b.c_d~e&msclkid=f'],
  ['gclid=a&gclid=b', 'gclid=a'],
  ['gclid==1%2B1', undefined],
  ['gclid=%3D1', undefined],
  ['gclid=-1', undefined],
  ['gclid=a%0Ab', undefined],
  [`gclid=${'a'.repeat(257)}`, undefined],
  [`gbraid=${'a'.repeat(256)}`, `gbraid=${'a'.repeat(256)}`],
])('the click ids of %j are %j', (query, found) => {
  expect(extractAdClickIds(query)).toBe(found)
})

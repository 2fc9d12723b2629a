import { beforeAll, describe, expect, test } from 'bun:test'
import { onBothEngines, type TestServer, type TestWorkspace } from '../../../../tests/support/world.ts'
import { insertSubmissions, type TestSubmission } from './submission.fixture.ts'

async function formIn(server: TestServer, ws: TestWorkspace) {
  const { formKey } = await ws.createForm()
  const { id: formId } = await server.row('forms', { form_key: formKey })
  const store = (...sent: TestSubmission[]) =>
    server.app.db.write((connection) => insertSubmissions(connection, { workspaceId: ws.id, formId }, sent))
  return { formKey, store }
}

const at = (text: string) => Date.parse(text)

onBothEngines('the submissions of all forms', (server) => {
  describe('are one list, newest first', () => {
    let ws: TestWorkspace
    let keys: string[]
    let stored: number[]

    beforeAll(async () => {
      ws = await server().createWorkspace()
      const [first, second] = [await formIn(server(), ws), await formIn(server(), ws)]
      const other = await server().createWorkspace()
      await (await formIn(server(), other)).store({ status: 'spam' }, {})
      keys = [first.formKey, second.formKey]
      stored = [
        ...(await first.store({ status: 'read', created_at: at('2026-03-01T00:00:00Z') })),
        ...(await second.store({ link_id: 17, country: 'DE', created_at: at('2026-03-02T00:00:00Z') })),
        ...(await first.store({
          status: 'spam',
          fields: [['m', 'GRÖßE']],
          created_at: at('2026-03-03T00:00:00Z'),
        })),
        ...(await second.store({
          status: 'archived',
          country: 'GB',
          created_at: at('2026-03-03T00:00:00Z'),
        })),
      ]
    })

    // Numbers are indexes in `stored`. FIRST and SECOND stand for the keys of the forms.
    test.each([
      ['', [3, 2, 1, 0]],
      ['formKey=FIRST', [2, 0]],
      ['formKey=SECOND', [3, 1]],
      ['formKey=zzzzzzzzzz', []],
      ['formKey=..%2F..', []],
      ['status=new', [1]],
      ['status=new,read', [1, 0]],
      ['status=read,read', [0]],
      ['status=spam,archived,new,read', [3, 2, 1, 0]],
      ['status=spam&formKey=SECOND', []],
      ['search=größe', [2]],
      ['linkId=17&country=de', [1]],
      ['country=uk&status=archived', [3]],
      ['start=2026-03-02&end=2026-03-02', [1]],
    ])('filtered by %p', async (query, places) => {
      const asked = query.replace('FIRST', keys[0] as string).replace('SECOND', keys[1] as string)
      const { json } = await ws.api(`/submissions?${asked}`)
      expect(json.data.map(({ id }: { id: number }) => id)).toEqual(places.map((place) => stored[place]))
      expect(json.total).toBe(places.length)
    })

    test('each with its form key, and the same as when read alone', async () => {
      const { json } = await ws.api('/submissions')
      const formKeys = json.data.map(({ formKey }: { formKey: string }) => formKey)
      expect(formKeys).toEqual([keys[1], keys[0], keys[1], keys[0]])
      expect(json.data[0]).toEqual((await ws.api(`/submissions/${stored[3]}`)).json.data)
    })

    test('in pages that stay correct while submissions are added', async () => {
      const own = await server().createWorkspace()
      const [one, two] = [await formIn(server(), own), await formIn(server(), own)]
      const ids = [
        ...(await one.store({}, {})),
        ...(await two.store({}, {}, {})),
        ...(await one.store({}, {})),
      ]
      const seen: number[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query: string = cursor ? `limit=3&cursor=${cursor}` : 'limit=3'
        const { json } = await own.api(`/submissions?${query}`)
        seen.push(...json.data.map(({ id }: { id: number }) => id))
        cursor = json.nextCursor
        await two.store({ created_at: server().now() })
      }
      expect(seen).toEqual(ids.reverse())
    })

    test('and more than a step of them, of one moment too, are all found, counted and paged', async () => {
      const own = await server().createWorkspace()
      const { store } = await formIn(server(), own)
      const ids = await store(
        ...Array.from({ length: 1200 }, (_, n) => ({
          country: n % 3 ? 'DE' : 'US',
          created_at: 1000 * Math.floor(n / 700),
          // A few are long: their step is searched in smaller ones.
          fields: [['message', n > 1190 ? 'long '.repeat(20_000) : 'short']] as [string, string][],
        })),
      )
      const german = ids.filter((_, n) => n % 3 > 0).reverse()
      const read = async (query: string) => (await own.api(`/submissions?country=DE&${query}`)).json
      const first = await read('limit=100')
      const second = await read(`limit=100&cursor=${first.nextCursor}`)
      const shown = [...first.data, ...second.data].map(({ id }: { id: number }) => id)
      expect([first.total, second.total, shown]).toEqual([800, 800, german.slice(0, 200)])
      const since = await read(`limit=1&start=${encodeURIComponent('1970-01-01T00:00:01Z')}`)
      const until = await read(`limit=1&end=${encodeURIComponent('1970-01-01T00:00:01Z')}`)
      expect([since.total, until.total]).toEqual([334, 466])
      expect((await read('limit=1&search=long')).total).toBe(6)
    })

    test.each([
      ['status=new,', 'status', 'must be one of new, read, archived, spam, unconfirmed'],
      ['status=new,open', 'status', 'must be one of new, read, archived, spam, unconfirmed'],
      ['status=', 'status', 'must be one of new, read, archived, spam, unconfirmed'],
      ['formKey=a&formKey=b', 'formKey', 'must be given once'],
      ['cursor=x', 'cursor', 'is not a cursor of this list; start again without it'],
    ])('and reject the filter %p', async (query, name, message) => {
      const { status, json } = await ws.api(`/submissions?${query}`)
      expect([status, json.errors]).toEqual([422, { [name]: message }])
    })
  })
})

import { expect, test } from 'bun:test'
import { onSqlite } from '../../../tests/support/world.ts'
import { expectVisitorPage } from './redirect.fixture.ts'

const REPORT = '>Report this link</a>'
const findReport = (text: string) =>
  /<a href="([^"]*)">Report this link/.exec(text)?.[1]?.replaceAll('&#39;', "'").replaceAll('&amp;', '&')

onSqlite(
  'With ABUSE_EMAIL a visitor',
  (server) => {
    test('can report a link from its preview and its password page, which name the link', async () => {
      const ws = await server().createWorkspace()
      const plain = await ws.createLink({ slug: `été-${ws.id}` })
      const locked = await ws.createLink({ password: 'x' })
      for (const [path, { shortUrl }] of [
        [`${encodeURIComponent(plain.slug)}+`, plain],
        [`${locked.slug}+`, locked],
        [locked.slug, locked],
      ] as const) {
        const answer = await server().click(path)
        expectVisitorPage(answer)
        const report = new URL(findReport(answer.text) as string)
        expect([report.protocol, decodeURIComponent(report.pathname)]).toEqual([
          'mailto:',
          `o'neil+abuse&co@example.com`,
        ])
        // Nothing of the link can add a field to the mail.
        expect([...report.searchParams]).toEqual([['subject', `Report of ${shortUrl}`]])
      }
      const wrong = await server().call(`/${locked.slug}`, {
        method: 'POST',
        body: 'password=y',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      })
      expect(wrong.status).toBe(403)
      expect(wrong.text).toContain(REPORT)
    })

    test('finds whom to ask about a suspended link', async () => {
      const ws = await server().createWorkspace()
      const { id, slug } = await ws.createLink({})
      await server().app.db.write((connection) =>
        connection.updateTable('links').set({ suspended_at: 1 }).where('id', '=', id).execute(),
      )
      const { status, text } = await server().click(slug)
      expect(status).toBe(451)
      expect(text).toContain(`write to <a href="mailto:`)
      expect(text).not.toContain(REPORT)
    })
  },
  { environment: { ABUSE_EMAIL: "o'neil+abuse&co@example.com" } },
)

onSqlite('Without ABUSE_EMAIL a visitor', (server) => {
  test('gets no link to report', async () => {
    const ws = await server().createWorkspace()
    const { slug } = await ws.createLink({ password: 'x' })
    for (const path of [slug, `${slug}+`]) {
      const { text } = await server().click(path)
      expect(text).not.toMatch(/Report this link|mailto:/)
    }
  })
})

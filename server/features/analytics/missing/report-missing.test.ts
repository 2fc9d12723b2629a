import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { startMailServer } from '../../../../tests/support/fake-servers/mail-server.ts'
import { addVerifiedDomain } from '../../../../tests/support/server/verified-domain.ts'
import { createTeam, type Team } from '../../../../tests/support/users/signed-in-user.ts'
import { BROWSER_USER_AGENT, onBothEngines } from '../../../../tests/support/world.ts'
import { reportMissing } from './report-missing.ts'

setDefaultTimeout(60_000)

const HOUR = 60 * 60 * 1000
const ORIGIN = 'https://towpath.example'
const mail = await startMailServer()
afterAll(() => mail.stop())

const options = { environment: { SMTP_URL: mail.url(), MAIL_FROM: 'go@towpath.example' } }

onBothEngines(
  'the report of missing slugs',
  (server) => {
    let workspace: Team
    let now = 0
    let ownDomain = ''

    beforeAll(() => {
      // The middle of an hour, so that a test does not begin in one and end in the next.
      now = Math.floor(server().now() / HOUR) * HOUR + HOUR / 2
    })
    beforeEach(async () => {
      mail.mails.length = 0
      mail.refusing.all = false
      workspace = await createTeam(server())
      ownDomain = `go${workspace.id}.example`
      await addVerifiedDomain(server(), workspace.id, ownDomain)
    })

    const patch = (missingReportAbove: unknown) =>
      workspace.owner.in(workspace.id).patch('/workspace', { missingReportAbove })
    function ask(slugKey: string, times: number, at = now) {
      const visitor = { human: true, address: '198.51.100.1', userAgent: BROWSER_USER_AGENT }
      const place = { domain: ownDomain, workspaceId: workspace.id, slugKey }
      for (let n = 0; n < times; n++) server().app.misses.count({ ...visitor, ...place, at })
    }
    async function report(at = now) {
      await server().app.misses.flush()
      const { db, redirects } = server().app
      const needs = { db, now: () => at, origin: ORIGIN, sendMail: redirects.sendMail, onlyVerified: false }
      await reportMissing(needs)
    }
    const readTexts = () => mail.mails.map(({ parsed }) => parsed.text ?? '')

    test('goes to the owners, once for a slug, with the closest link and a link to create it', async () => {
      expect((await patch(10)).json.data.missingReportAbove).toBe(10)
      await workspace.createLink({ slug: 'summer-sale', domain: ownDomain })
      ask('sumer-sale', 11)
      ask('seldom', 10)
      await report()
      await report(now + HOUR)
      expect(mail.mails.map(({ to }) => to)).toEqual([[workspace.owner.email]])
      const [text = ''] = readTexts()
      expect(text).toContain(`https://${ownDomain}/sumer-sale\n  Asked for 11 times, by 1 visitor.`)
      expect(text).toContain(`Similar link: https://${ownDomain}/summer-sale`)
      const created = `${ORIGIN}/app/${workspace.id}/links/missing?slug=sumer-sale&domain=${ownDomain}`
      expect(text).toContain(`Create it: ${created}`)
      expect(text).not.toContain('seldom')
      // After a day it may be told again, of what was asked since.
      ask('sumer-sale', 11, now + 25 * HOUR)
      await report(now + 25 * HOUR)
      expect(mail.mails).toHaveLength(2)
    })

    test('is off until an owner chooses a number, and says what it may be', async () => {
      ask('unwatched', 100)
      await report()
      expect(mail.mails).toEqual([])
      expect((await workspace.api('/workspace')).json.data.missingReportAbove).toBeNull()
      expect((await patch(9)).json.errors).toEqual({ missingReportAbove: 'must be at least 10' })
      expect((await patch(10.5)).status).toBe(422)
      await patch(10)
      await patch(null)
      await report()
      expect(mail.mails).toEqual([])
      const audit = await server().rows('audit_events', {
        workspace_id: workspace.id,
        action: 'workspace.settings_changed',
      })
      expect(audit.map(({ detail }) => JSON.parse(detail))).toEqual([
        { missingReportAbove: 10 },
        { missingReportAbove: null },
      ])
    })

    test('is not about robots, older requests, or slugs that have a link by now', async () => {
      await patch(10)
      ask('old', 50, now - 25 * HOUR)
      ask('created', 50)
      await workspace.createLink({ slug: 'created', domain: ownDomain })
      for (let n = 0; n < 50; n++)
        server().app.misses.count({
          at: now,
          domain: ownDomain,
          workspaceId: workspace.id,
          slugKey: 'crawled',
          human: false,
          address: '198.51.100.1',
          userAgent: 'bot',
        })
      await report()
      expect(mail.mails).toEqual([])
    })

    test('has five mails a day at most, of twenty slugs each', async () => {
      await patch(10)
      for (let n = 0; n < 150; n++) ask(`flood-${n}`, 20)
      for (let n = 0; n < 8; n++) await report(now + n)
      expect(mail.mails).toHaveLength(5)
      for (const text of readTexts()) expect(text.match(/Asked for/g)).toHaveLength(20)
    })

    test('is sent again when the mail server takes none', async () => {
      await patch(10)
      ask('lost', 20)
      mail.refusing.all = true
      await report()
      mail.refusing.all = false
      await report(now + 1)
      expect(mail.mails).toHaveLength(1)
    })

    test('shows a slug of a stranger as an address of our own, whatever it looks like', async () => {
      await patch(10)
      ask('evil.example/login', 20)
      ask('ab\u05d0\u05d1', 20)
      ask('x'.repeat(190), 20)
      await report()
      const [text = ''] = readTexts()
      expect(text).toContain(`https://${ownDomain}/evil.example/login\n`)
      expect(text).toContain(`https://${ownDomain}/ab%D7%90%D7%91\n`)
      expect(text).toMatch(/x…\n/)
      for (const [word] of text.matchAll(/\S*evil\.example\S*/g))
        expect(word).toMatch(new RegExp(`^(https://${ownDomain}/|${ORIGIN}/|$)`))
    })
  },
  options,
)

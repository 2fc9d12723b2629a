// The doctor inside a server: access to its report, and shared runs.

import { beforeAll, expect, test } from 'bun:test'
import { createSignedInUser } from '../../../../tests/support/users/signed-in-user.ts'
import { onBothEngines } from '../../../../tests/support/world.ts'
import { createPatient } from '../doctor.fixture.ts'
import type { ReportedFinding } from '../schema.ts'
import { createDoctor } from './doctor.ts'

onBothEngines(
  'the health of the server',
  (server) => {
    type Person = Awaited<ReturnType<typeof createSignedInUser>>
    let owner: Person
    let first: number
    beforeAll(async () => {
      owner = await createSignedInUser(server(), 'Owner')
      first = (await owner.post('/workspaces', { name: 'First' })).json.data.id
    })

    test('is seen by owners of the first workspace, and by nobody else', async () => {
      const other = (await owner.post('/workspaces', { name: 'Other' })).json.data.id
      const seen = await owner.apiIn(first, '/doctor')
      expect(seen.status).toBe(200)
      expect(seen.json.data.findings.length).toBeGreaterThan(10)
      expect((await owner.apiIn(other, '/doctor')).status).toBe(404)
      const stranger = await createSignedInUser(server(), 'Stranger')
      expect((await stranger.apiIn(first, '/doctor')).status).toBe(404)
      const { json } = await owner.api('/workspaces')
      const operated = json.data.map((each: { id: number; operatesServer: boolean }) => [
        each.id,
        each.operatesServer,
      ])
      expect(operated).toEqual([
        [first, true],
        [other, false],
      ])
      const members = server().app.db
      await members.write((connection) =>
        connection
          .insertInto('members')
          .values({ workspace_id: first, user_id: stranger.id, role: 'member', created_at: 1 })
          .execute(),
      )
      expect((await stranger.apiIn(first, '/doctor')).status).toBe(404)
    })

    test('has the clicks of a server that counts, and finds a counter that was changed', async () => {
      const workspace = await server().createWorkspace()
      const { id, slug } = await workspace.createLink()
      for (let i = 0; i < 20; i++) await server().click(slug)
      await server().waitUntilShipped()
      const counters = async () => {
        const findings = await server().app.doctor.listOwnFindings()
        return findings
          .filter(({ check }) => check === 'counters')
          .map(({ status, summary }) => `${status}: ${summary}`)
      }
      expect((await counters())[0]).toStartWith('ok: 20 clicks on')
      // A report holds for a while: a new doctor looks again.
      await server().update('links', { id }, { clicks: 13 })
      const again = createDoctor({
        ...(await createPatient()).needs(),
        openRows: async () => server().app.db,
        inspectHits: server().app.hitWorker.inspect,
      })
      const found = (await again.getReport()).findings.filter(
        ({ check }: ReportedFinding) => check === 'counters',
      )
      const [worst] = found
      if (server().engine === 'sqlite') expect(worst?.summary).toContain('7 clicks of 1 link, in workspace')
      expect(worst?.status).toBe('problem')
    })

    test('is looked at once for all who ask at the same time', async () => {
      let runs = 0
      const patient = await createPatient()
      const doctor = createDoctor(
        patient.needs({
          inspectHits: async (withClicks) => {
            if (withClicks) runs++
            return undefined
          },
        }),
      )
      const reports = await Promise.all([doctor.getReport(), doctor.getReport(), doctor.getReport()])
      expect(runs).toBe(1)
      expect(new Set(reports).size).toBe(1)
      await patient.end()
    })
  },
  { environment: {} },
)

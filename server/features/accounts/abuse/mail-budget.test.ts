import { expect, test } from 'bun:test'
import { onBothEngines } from '../../../../tests/support/world.ts'
import { createMailBudget } from './mail-budget.ts'

onBothEngines.quick('the mails of a day', (server) => {
  test('are counted exactly by servers that send at the same moment, and shared between workspaces', async () => {
    const { db } = server().app
    const budgets = [1, 2].map(() => createMailBudget({ db, now: server().now, mailPerDay: 40 }))
    const busy = await server().createWorkspace()
    const other = await server().createWorkspace()
    const take = async (workspaceId: number, mails: number) => {
      const taken = await Promise.all(
        Array.from({ length: mails }, (_, n) =>
          budgets[n % 2]?.take(1, { purpose: 'notification', workspaceId }),
        ),
      )
      return taken.filter(Boolean).length
    }
    // 85 % are for notifications, and a busy workspace leaves a quarter of them.
    expect(await take(busy.id, 36)).toBe(25)
    expect(await take(other.id, 36)).toBe(7)
    const { sent } = await server().row('mail_counts')
    expect(sent).toBe(32)
    expect(await budgets[0]?.hasRoom({ purpose: 'notification', workspaceId: busy.id })).toBe(false)
    expect(await budgets[0]?.hasRoom()).toBe(true)
  })
})

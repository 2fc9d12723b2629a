import { expect, test } from 'bun:test'
import { join } from 'node:path'

// Field 19 of /proc/[pid]/stat is the niceness. The name before it, in brackets, may have blanks.
const PROGRAM = `
  import { readdirSync, readFileSync } from 'node:fs'
  import { hashPassword } from '${join(import.meta.dir, '../crypto/password.ts')}'
  for (let i = 0; i < 2; i++) await Promise.all([hashPassword('x', 'people'), hashPassword('y', 'links')])
  const threads = readdirSync('/proc/self/task').map((id) => {
    const stat = readFileSync('/proc/self/task/' + id + '/stat', 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return [stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')), Number(fields[16])]
  })
  console.log(JSON.stringify(threads))
`

test.skipIf(process.platform !== 'linux')(
  'passwords are hashed by threads that give way to the one that answers (Linux)',
  async () => {
    const child = Bun.spawn([process.execPath, '-e', PROGRAM], { stdout: 'pipe', stderr: 'inherit' })
    const threads = JSON.parse(await new Response(child.stdout).text()) as [string, number][]
    const pool = threads.filter(([name]) => name.startsWith('Bun Pool'))
    expect(pool.length).toBeGreaterThan(0)
    for (const [, niceness] of pool) expect(niceness).toBe(5)
    expect(threads.filter(([name]) => /^bun/.test(name)).map(([, niceness]) => niceness)).not.toContain(5)
  },
)

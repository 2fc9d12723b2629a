// The baseline of bench/uploads.ts: bun bench/uploads-writer.ts <port> <dir>. It streams each body to a file, syncs the file,
// renames it, and syncs the directory and one appended line, as a row's commit does.

import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'

const [port, dir = ''] = process.argv.slice(2)
let files = 0
const rows = await open(join(dir, 'rows'), 'a')
const folder = await open(dir, 'r')

Bun.serve({
  port: Number(port),
  hostname: '127.0.0.1',
  maxRequestBodySize: 1024 ** 3,
  async fetch(request) {
    if (!request.body) return new Response(null, { status: 204 })
    const path = join(dir, String(files++))
    const file = await open(`${path}.draft`, 'wx')
    for await (const chunk of request.body) await file.write(chunk)
    await file.sync()
    await file.close()
    await rename(`${path}.draft`, path)
    await folder.sync()
    await rows.write('a row of a submission\n')
    await rows.datasync()
    return Response.json({ ok: true })
  },
})

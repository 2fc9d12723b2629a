// A process that loads batches until it is killed. Arguments: the address of the database, the node, and the batches.

import { openClickHouse } from './engine.ts'

const [url = '', node = '', ...paths] = process.argv.slice(2)
const engine = await openClickHouse({ urls: [url], scratchDir: '/' })
for (const [index, path] of paths.entries()) {
  await engine.load({ node, number: index + 1, path })
  process.stdout.write('loaded\n')
}
await engine.close()

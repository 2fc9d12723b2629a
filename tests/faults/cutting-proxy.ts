// A proxy in front of a database that breaks connections: before a message arrives, or after it, so that its answer is lost.

import { connect, createServer, type Socket } from 'node:net'

export type CutMoment = 'before the message arrives' | 'before its answer arrives'

export interface CuttingProxy {
  /** The URL of the database through the proxy. */
  url: string
  /** From now on breaks a connection at every nth message of all clients together; undefined for none. */
  cutEvery(nth: number | undefined, moment: CutMoment): void
  /** How many connections it has broken. */
  countCuts(): number
  close(): void
}

export async function startCuttingProxy(databaseUrl: string): Promise<CuttingProxy> {
  const target = new URL(databaseUrl)
  let every: number | undefined
  let moment: CutMoment = 'before the message arrives'
  let [messages, cuts] = [0, 0]
  const open = new Set<Socket>()

  const server = createServer((client) => {
    const database = connect(Number(target.port), target.hostname)
    let isDoomed = false
    const cut = () => {
      client.destroy()
      database.destroy()
    }
    for (const socket of [client, database]) {
      open.add(socket)
      socket.setNoDelay(true)
      socket.on('error', cut)
      socket.on('close', () => {
        open.delete(socket)
        cut()
      })
    }
    client.on('data', (bytes) => {
      const isNth = every !== undefined && ++messages % every === 0
      if (isNth) cuts++
      if (isNth && moment === 'before the message arrives') return cut()
      isDoomed ||= isNth
      database.write(bytes)
    })
    database.on('data', (bytes) => (isDoomed ? cut() : client.write(bytes)))
  })
  const listening = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', listening.resolve)
  await listening.promise
  const url = new URL(databaseUrl)
  url.port = String((server.address() as { port: number }).port)
  return {
    url: url.href,
    cutEvery(nth, when) {
      every = nth
      moment = when
    },
    countCuts: () => cuts,
    close() {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}

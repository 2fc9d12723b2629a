import { expect, test } from 'bun:test'
import { postToChild } from './post-to-child.ts'

/** In about one of five, the channel is closed for a moment before the exit is noticed. */
const DEATHS = 100

test('a message to a process that is just dying is no error, at whichever moment', async () => {
  for (let death = 0; death < DEATHS; death++) {
    let isGone = false
    const child = Bun.spawn([process.execPath, '-e', ''], {
      ipc() {},
      onExit() {
        isGone = true
      },
    })
    child.kill('SIGKILL')
    while (!isGone) {
      expect(() => postToChild(child, 'hello')).not.toThrow()
      await new Promise(setImmediate)
    }
  }
})

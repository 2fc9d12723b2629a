// The command `demo` fills a workspace with made-up links, clicks and leads.

import { parseEmail, parseIdArgument } from '../arguments.ts'
import { type Command, CommandError } from '../command.ts'

export const demoCommand: Command = {
  name: 'demo',
  form: '[--for <email>]',
  help: "fills a workspace with two months of a small company's links and leads",
  words: 0,
  options: ['for', 'clicks'],
  creates: true,
  async run({ db, config }, { options }) {
    // Imported here, so that the other commands start faster.
    const [{ runDemo }, { toWorkerConfig }, { createProgressBar }] = await Promise.all([
      import('../demo/run-demo.ts'),
      import('../../workers/run-workers.ts'),
      import('../progress-bar.ts'),
    ])
    const controller = new AbortController()
    for (const signal of ['SIGINT', 'SIGTERM']) {
      process.once(signal, () =>
        controller.abort(new CommandError('Stopped. The unfinished demo was removed.')),
      )
    }
    const needs = {
      db,
      // Clicks are handed over to one server: with WORKERS, each server has its own directory.
      config: config.workers > 1 ? toWorkerConfig(config, 1) : config,
      progress: createProgressBar(process.stderr),
      signal: controller.signal,
    }
    return runDemo(needs, {
      for: options.for === undefined ? undefined : parseEmail(options.for),
      clicks: options.clicks === undefined ? undefined : parseIdArgument(options.clicks, '--clicks'),
    })
  },
}

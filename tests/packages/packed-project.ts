// A project of somebody else with the packed packages in it: installed from their tarballs, and React beside them.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildPackages } from '../../packages/build.ts'
import { ROOT } from '../support/architecture/read-checkout.ts'

export interface PackedProject {
  dir: string
  /** Runs a program in the project. @throws where it fails, with its output */
  run(command: string[]): string
  /** Bundles a module for the browser. @returns a page's script */
  bundle(name: string, code: string): Promise<string>
  close(): void
}

/** From the checkout's own packages, so that no registry is asked. */
const LINKED = ['react', 'react-dom', 'scheduler', '@types/react', '@types/react-dom', 'csstype']

export async function createPackedProject(): Promise<PackedProject> {
  const dir = mkdtempSync(join(tmpdir(), 'towpath-packed-'))
  const run = (command: string[]) => {
    const { success, stdout, stderr } = Bun.spawnSync(command, { cwd: dir })
    if (!success) throw new Error(`${command.join(' ')} failed: ${stdout}${stderr}`)
    return stdout.toString()
  }
  await Bun.write(join(dir, 'package.json'), '{"name":"customer","private":true,"type":"module"}')
  const tarballs = Object.values(await buildPackages(join(dir, 'tarballs')))
  run(['npm', 'install', '--offline', '--no-audit', '--no-fund', '--legacy-peer-deps', ...tarballs])
  mkdirSync(join(dir, 'node_modules/@types'), { recursive: true })
  for (const name of LINKED) symlinkSync(join(ROOT, 'node_modules', name), join(dir, 'node_modules', name))
  return {
    dir,
    run,
    async bundle(name, code) {
      const entry = join(dir, name)
      await Bun.write(entry, code)
      const { outputs } = await Bun.build({
        entrypoints: [entry],
        define: { 'process.env.NODE_ENV': '"development"' },
        target: 'browser',
      })
      const script = (await outputs[0]?.text()) ?? ''
      return `<script type="module">${script.replaceAll('</script', '<\\/script')}</script>`
    },
    close: () => rmSync(dir, { recursive: true, force: true }),
  }
}

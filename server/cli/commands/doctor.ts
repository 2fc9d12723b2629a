// The command `doctor` reports problems and their fixes. It works without a server, without valid settings and
// without a data directory.

import { parseEmail } from '../arguments.ts'
import type { StandaloneCommand } from '../command.ts'

export const doctorCommand: StandaloneCommand = {
  name: 'doctor',
  form: '[--json] [--mail-to <email>]',
  help: 'checks the installation and prints fixes; exits with 1 on a problem',
  words: 0,
  options: ['json', 'mail-to'],
  async runStandalone({ options }) {
    const mailTo = options['mail-to'] === undefined ? undefined : parseEmail(options['mail-to'])
    // Imported here, so that the other commands start faster.
    const [{ runDoctor }, { formatReport }] = await Promise.all([
      import('../doctor/run-doctor.ts'),
      import('../../features/doctor/report/report-text.ts'),
    ])
    const report = await runDoctor(mailTo)
    return {
      output: options.json
        ? JSON.stringify(report, null, 2)
        : formatReport(report, process.stdout.isTTY === true),
      exitCode: report.status === 'problem' ? 1 : 0,
    }
  },
}

// Shows new recovery codes, once: to copy, or to save as a file.

import { Download } from 'lucide-react'
import { Button } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy/copy-button.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import { saveFile } from '../../../ui/save-file.ts'

export function RecoveryCodesDialog({ codes, onClose }: { codes: string[]; onClose: () => void }) {
  const text = codes.join('\n')
  const download = () =>
    saveFile(
      new Blob([`Recovery codes for ${location.host}. Each one works once.\n\n${text}\n`], {
        type: 'text/plain',
      }),
      'towpath-recovery-codes.txt',
    )
  return (
    <Dialog
      open
      onClose={onClose}
      title="Save your recovery codes"
      description="They are not shown again. Each one signs you in once, when you have lost your second factor."
      footer={
        <Button variant="primary" onClick={onClose}>
          I saved them
        </Button>
      }
    >
      <ul className="grid gap-x-6 gap-y-1.5 rounded-lg border border-line bg-sunken p-4 min-[360px]:grid-cols-2">
        {codes.map((code) => (
          <li key={code} className="text-center">
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div className="mt-3 flex flex-wrap gap-2">
        <CopyButton text={text} label="Copy codes">
          Copy
        </CopyButton>
        <Button size="small" icon={<Download size={15} />} onClick={download}>
          Download
        </Button>
      </div>
    </Dialog>
  )
}

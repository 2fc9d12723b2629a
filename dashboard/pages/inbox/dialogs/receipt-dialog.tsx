// The receipt of an erasure: when it was, and how much was deleted. It can be saved, to answer the person with it.

import { Download } from 'lucide-react'
import type { ErasureReceipt } from '../../../api/inbox/person-data.ts'
import { Button } from '../../../ui/button.tsx'
import { formatExactly, formatNumber } from '../../../ui/format.ts'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import { saveFile } from '../../../ui/save-file.ts'

const COUNTS = {
  submissions: 'Submissions',
  files: 'Files',
  deliveries: 'Notification records',
  replies: 'Records of replies',
} satisfies Partial<Record<keyof ErasureReceipt, string>>

export const saveReceipt = (receipt: ErasureReceipt) =>
  saveFile({
    file: new Blob([`${JSON.stringify(receipt, null, 2)}\n`], { type: 'application/json' }),
    name: `erasure-${receipt.id}.json`,
  })

interface Props {
  receipt: ErasureReceipt
  /** The erasure has just been made. */
  isNew?: boolean
  onClose: () => void
}

export function ReceiptDialog({ receipt, isNew, onClose }: Props) {
  return (
    <Dialog
      onClose={onClose}
      title={isNew ? 'The data is erased' : `Receipt ${receipt.id}`}
      description="Keep the receipt as proof of the erasure. It doesn’t contain the person’s address."
      footer={
        <>
          <Button icon={<Download size={16} />} onClick={() => saveReceipt(receipt)}>
            Save the receipt
          </Button>
          <Button variant="primary" onClick={onClose}>
            Close
          </Button>
        </>
      }
    >
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5">
        <dt className="text-soft">Receipt</dt>
        <dd>{receipt.id}</dd>
        <dt className="text-soft">Erased</dt>
        <dd>{formatExactly(receipt.at)}</dd>
        {Object.entries(COUNTS).map(([name, label]) => (
          <div key={name} className="contents">
            <dt className="text-soft">{label}</dt>
            <dd className="tabular-nums">{formatNumber(receipt[name as keyof typeof COUNTS])}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}

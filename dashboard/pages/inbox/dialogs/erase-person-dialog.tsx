// Erases all submissions with one email address, in every form, after a confirmation, and shows the receipt.

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { type ErasureReceipt, erasePerson } from '../../../api/inbox/person-data.ts'
import { submissionCountQuery } from '../../../api/submissions.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { formatCount } from '../../../ui/format.ts'
import { ConfirmDialog } from '../../../ui/overlays/confirm-dialog.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import { EmailStep } from './email-step.tsx'
import { ReceiptDialog } from './receipt-dialog.tsx'

/** @param email the address, where it is already known; otherwise the dialog asks for it */
export default function ErasePersonDialog({
  email: initialEmail,
  onClose,
}: {
  email?: string
  onClose: () => void
}) {
  const [email, setEmail] = useState(initialEmail)
  const [receipt, setReceipt] = useState<ErasureReceipt>()
  if (receipt) return <ReceiptDialog receipt={receipt} isNew onClose={onClose} />
  if (email === undefined)
    return (
      <EmailStep
        title="Erase personal data"
        description="Deletes all submissions with one email address, in all forms."
        action="Find submissions"
        onClose={onClose}
        onSubmit={setEmail}
      />
    )
  return <ConfirmStep email={email} onErased={setReceipt} onClose={onClose} />
}

interface ConfirmStepProps {
  email: string
  onErased: (receipt: ErasureReceipt) => void
  onClose: () => void
}

function ConfirmStep({ email, onErased, onClose }: ConfirmStepProps) {
  const api = useApi()
  const client = useQueryClient()
  const [isErasing, setErasing] = useState(false)
  const isErased = useRef(false)
  // The receipt is shown as it is. A new count would say that there is nothing to erase.
  const count = useQuery({ ...submissionCountQuery(api, { email, status: 'all' }), enabled: !isErasing })
  if (count.data === 0)
    return (
      <Dialog onClose={onClose} title="Nothing to erase" done="Close">
        <p className="break-words">No submission has the email address {email}.</p>
      </Dialog>
    )
  return (
    <ConfirmDialog
      // It closes by itself after the erasure; then the receipt is shown.
      onClose={() => isErased.current || onClose()}
      title={`Erase ${email}?`}
      action="Erase permanently"
      mustType={email}
      onConfirm={async () => {
        setErasing(true)
        const { receipt } = await erasePerson(api, email).finally(() => setErasing(false))
        isErased.current = true
        onErased(receipt)
        for (const key of ['submissions', 'forms', 'deliveries', 'erasures'])
          void client.invalidateQueries({ queryKey: [api.workspaceId, key] })
      }}
    >
      <p>
        This erases {count.data === undefined ? 'all submissions' : formatCount(count.data, 'submission')}{' '}
        with this address, their files, their attribution and their notification records. You can’t undo this.
      </p>
    </ConfirmDialog>
  )
}

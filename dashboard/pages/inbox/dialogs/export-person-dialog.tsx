// Saves all data of one person as a file: submissions of every form, their files, and what was sent about them.

import { useMutation } from '@tanstack/react-query'
import { exportPerson } from '../../../api/inbox/person-data.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { toast } from '../../../ui/overlays/toast.tsx'
import { saveFile } from '../../../ui/save-file.ts'
import { EmailStep } from './email-step.tsx'

export default function ExportPersonDialog({ email, onClose }: { email?: string; onClose: () => void }) {
  const api = useApi()
  const save = useMutation({
    mutationFn: (address: string) => exportPerson(api, address),
    onSuccess(file) {
      saveFile(file)
      toast('The file is saved')
      onClose()
    },
    onError() {},
  })
  return (
    <EmailStep
      title="Export personal data"
      description="A ZIP with all submissions with one email address, in all forms, with their files and deliveries."
      action="Download"
      email={email}
      busy={save.isPending}
      error={save.error?.message}
      onSubmit={(address) => save.mutate(address)}
      onClose={onClose}
    />
  )
}

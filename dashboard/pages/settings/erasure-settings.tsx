// The erasures of persons' data: the receipts, and the buttons that export or erase all data of one person.

import { useInfiniteQuery } from '@tanstack/react-query'
import { Download, UserX } from 'lucide-react'
import { useState } from 'react'
import { type ErasureReceipt, erasuresQuery } from '../../api/inbox/person-data.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { formatCount, formatTime } from '../../ui/format.ts'
import { TextField } from '../../ui/forms/field.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { QueryState } from '../../ui/query-state.tsx'
import { RelativeTime } from '../../ui/relative-time.tsx'
import { ShowMore } from '../../ui/show-more.tsx'
import { saveReceipt } from '../inbox/dialogs/receipt-dialog.tsx'
import { PersonButtons } from '../inbox/reader/person-buttons.tsx'
import { SettingsHeading } from './settings-heading.tsx'

export function ErasureSettings() {
  const [email, setEmail] = useState('')
  const receipts = useInfiniteQuery(erasuresQuery(useApi(), email))
  const rows = receipts.data?.pages.flatMap(({ data }) => data)
  return (
    <>
      <SettingsHeading
        title="Erasures"
        description="When a person requests their data or its erasure, export or erase everything that was sent with their email address, in all forms. Each erasure leaves a receipt without the address."
      />
      <PersonButtons />
      <FindReceipt email={email} find={setEmail} />
      <QueryState query={receipts} rows={3} className="h-16" />
      {rows?.length === 0 && (
        <EmptyState
          icon={UserX}
          title={email ? `No receipts for ${email}` : 'No erasures yet'}
          action={email && <Button onClick={() => setEmail('')}>Show all receipts</Button>}
        >
          {!email && 'The receipt of each erasure appears here.'}
        </EmptyState>
      )}
      {rows && rows.length > 0 && (
        <Card title="Receipts">
          <ul aria-label="Receipts" className="-my-3 divide-y divide-line">
            {rows.map((receipt) => (
              <ReceiptRow key={receipt.id} receipt={receipt} />
            ))}
          </ul>
        </Card>
      )}
      <ShowMore query={receipts} className="text-center" />
    </>
  )
}

/** The address is hashed by the server: it finds its receipts, and no receipt shows it. */
function FindReceipt({ email, find }: { email: string; find: (email: string) => void }) {
  return (
    <Form
      className="flex flex-wrap items-end gap-2"
      onSubmit={(fields) => find(String(fields.get('email')).trim())}
    >
      <TextField
        key={email}
        label="Find the receipts of an address"
        name="email"
        type="email"
        maxLength={254}
        autoComplete="off"
        defaultValue={email}
        className="min-w-0 flex-1 basis-60 sm:max-w-sm"
      />
      <Button type="submit">Find</Button>
    </Form>
  )
}

const ReceiptRow = ({ receipt }: { receipt: ErasureReceipt }) => (
  <li className="flex items-center gap-3 py-3">
    <div className="min-w-0 flex-1">
      <p className="font-medium" title={formatTime(receipt.at)}>
        Receipt {receipt.id}, <RelativeTime at={receipt.at} />
      </p>
      <p className="text-sm text-soft">
        {[
          formatCount(receipt.submissions, 'submission'),
          formatCount(receipt.files, 'file'),
          formatCount(receipt.deliveries, 'notification record'),
          formatCount(receipt.replies, 'record of a reply', 'records of replies'),
        ].join(' · ')}
      </p>
    </div>
    <IconButton label={`Save receipt ${receipt.id}`} onClick={() => saveReceipt(receipt)}>
      <Download size={17} />
    </IconButton>
  </li>
)

// The section for the social card: its fields, the destination's own card, and a preview.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useState } from 'react'
import { destinationCardQuery } from '../../../api/cards.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { CollapsibleSection } from '../../../ui/collapsible-section.tsx'
import { CODE_INPUT } from '../../../ui/forms/control-class.ts'
import { formatExample, TextareaField, TextField } from '../../../ui/forms/field.tsx'
import { lazyPart } from '../../../ui/lazy-part.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { isUrl } from './destination-url.ts'
import type { LinkFieldsProps } from './field-props.ts'
import { toDestinationUrl } from './link-draft.ts'

const CardPreview = lazyPart(
  () => import('./card-preview.tsx'),
  'CardPreview',
  <Skeleton className="h-72 rounded-xl" />,
)

/** As the server has them (server/features/links/schema.ts). */
const TITLE_MAX = 120
const DESCRIPTION_MAX = 240

export function CardFields(props: LinkFieldsProps) {
  const { draft, link, errors, onChange } = props
  // The preview loads the image, so a closed section has none.
  const [isOpen, setOpen] = useState(false)
  const { previewTitle, previewDescription, previewImage } = draft
  const locked = draft.password === null ? link?.passwordProtected : draft.password !== ''
  return (
    <CollapsibleSection
      title="Social card"
      summary={previewTitle || previewDescription || previewImage}
      hasError={Boolean(errors.previewTitle ?? errors.previewDescription ?? errors.previewImage)}
      onOpenChange={setOpen}
    >
      <p className="text-sm text-soft">
        Shown by X, Facebook, Slack, WhatsApp and others when someone posts the short link. Leave all three
        empty to show the destination’s own card.
      </p>
      {locked && <p className="text-sm text-warn">A link with a password shows no card.</p>}
      <TakeFromDestination {...props} />
      <TextField
        label="Card title"
        autoComplete="off"
        maxLength={TITLE_MAX}
        hint={<Counter text={previewTitle} max={TITLE_MAX} />}
        value={previewTitle}
        error={errors.previewTitle}
        onChange={({ target }) => onChange({ previewTitle: target.value })}
      />
      <TextareaField
        label="Card description"
        error={errors.previewDescription}
        hint={<Counter text={previewDescription} max={DESCRIPTION_MAX} />}
        maxLength={DESCRIPTION_MAX}
        value={previewDescription}
        onChange={({ target }) => onChange({ previewDescription: target.value })}
      />
      <TextField
        label="Card image"
        hint="The https URL of a PNG, JPEG, GIF or WebP image. 1200 × 630 pixels fit everywhere."
        inputMode="url"
        {...CODE_INPUT}
        maxLength={8192}
        placeholder={formatExample('https://example.com/card.png')}
        value={previewImage}
        error={errors.previewImage}
        onChange={({ target }) => onChange({ previewImage: target.value })}
      />
      {isOpen && <CardPreview draft={draft} />}
    </CollapsibleSection>
  )
}

function Counter({ text, max }: { text: string; max: number }) {
  const count = [...text].length
  return (
    <span className={classNames('tabular-nums', count >= max && 'text-warn')}>
      {count} of {max} characters
    </span>
  )
}

/** Fills the fields with the destination's own card. */
function TakeFromDestination({ draft, onChange }: LinkFieldsProps) {
  const api = useApi()
  const client = useQueryClient()
  const url = toDestinationUrl(draft)
  const take = useMutation({
    mutationFn: () => client.fetchQuery(destinationCardQuery(api, url)),
    onSuccess({ title, description, image }) {
      if (title === null && description === null && image === null) return
      onChange({
        previewTitle: title ?? '',
        previewDescription: description ?? '',
        previewImage: image ?? '',
      })
    },
  })
  const messages = take.data?.findings.map(({ message }) => message) ?? []
  return (
    <div className="grid justify-items-start gap-1.5">
      <Button
        size="small"
        icon={<Download size={14} />}
        busy={take.isPending}
        disabled={!isUrl(url)}
        onClick={() => take.mutate()}
      >
        Take from the destination
      </Button>
      <p aria-live="polite" className="text-sm break-words">
        {take.error && <span className="text-danger">{take.error.message}</span>}
        {messages.length > 0 && <span className="text-warn">{messages.join(' ')}</span>}
      </p>
    </div>
  )
}

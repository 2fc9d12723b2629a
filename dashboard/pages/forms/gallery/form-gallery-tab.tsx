// The gallery of a form: three styled forms in HTML to copy, each with a preview.

import { useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import type { FormResource } from '../../../../server/features/forms/schema.ts'
import { snippetQuery } from '../../../api/forms.ts'
import { workspaceQuery } from '../../../api/workspace.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Card } from '../../../ui/card.tsx'
import { CodeBlock } from '../../../ui/copy/code-block.tsx'
import { ErrorState } from '../../../ui/error-state.tsx'
import { SIDE_NAV_GRID } from '../../../ui/page.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { TabLinks } from '../../../ui/tab-links.tsx'
import { FormNotes } from '../form-notes.tsx'
import { PreviewFrame } from './preview-frame.tsx'
import { FORM_TEMPLATES, type FormTemplate } from './templates.ts'
import { writeTemplate } from './write-template.ts'

export default function FormGalleryTab({ form }: { form: FormResource }) {
  const params = useParams({ from: '/$workspaceId/forms/$formKey' })
  const { page } = useSearch({ from: '/$workspaceId/forms/$formKey' })
  const template = FORM_TEMPLATES.find(({ id }) => id === page) ?? FORM_TEMPLATES[0]
  if (!template) return null
  return (
    <div className={SIDE_NAV_GRID}>
      <TabLinks
        label="Gallery"
        side
        current={template.id}
        tabs={FORM_TEMPLATES.map(({ id, label }, at) => ({
          id,
          label,
          link: {
            to: '/$workspaceId/forms/$formKey',
            params,
            search: { tab: 'gallery', ...(at > 0 && { page: id }) },
          },
        }))}
      />
      <TemplateCards form={form} template={template} />
    </div>
  )
}

function TemplateCards({ form, template }: { form: FormResource; template: FormTemplate }) {
  const api = useApi()
  const workspace = useQuery(workspaceQuery(api))
  const snippet = useQuery(snippetQuery(api))
  const failed = [workspace, snippet].find(({ isError }) => isError)
  if (failed) return <ErrorState error={failed.error} retry={() => void failed.refetch()} />
  if (!workspace.data || !snippet.data) return <Skeleton className="h-96" />
  const color = form.brand.color ?? workspace.data.brand.color
  const html = writeTemplate(template, form, { color, snippet: snippet.data })
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
      <Card title="Preview">
        <PreviewFrame html={html} title={`Preview: ${template.label}`} />
      </Card>
      <Card title="Code">
        <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
          <p className="text-soft">
            Paste it into your page, and change texts and styles as you like. It has the fields, limits and
            color of this form.{' '}
            {form.captcha
              ? 'The captcha needs the snippet, which is its first line.'
              : 'It works without a script.'}
          </p>
          <CodeBlock code={html} label={`${template.label} form`} height="max-h-[36rem]" />
          <FormNotes form={form} language="html" />
        </div>
      </Card>
    </div>
  )
}

// The analytics of the whole workspace.

import { Radio, Scale, ShieldCheck } from 'lucide-react'
import { ButtonLink } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { AnalyticsPanel } from './analytics-panel.tsx'
import { ViewsMenu } from './saved/views-menu.tsx'

const NO_FIXED_FILTERS = {}

const Actions = () => (
  <>
    <ButtonLink
      variant="quiet"
      from="/$workspaceId/analytics"
      to="/$workspaceId/analytics/live"
      search={{}}
      icon={<Radio size={16} />}
    >
      Live
    </ButtonLink>
    <ButtonLink
      variant="quiet"
      from="/$workspaceId/analytics"
      to="/$workspaceId/analytics/compare"
      search={{}}
      icon={<Scale size={16} />}
    >
      Compare with another tool
    </ButtonLink>
    <ButtonLink
      variant="quiet"
      from="/$workspaceId/analytics"
      to="/$workspaceId/analytics/proofs"
      search={{}}
      icon={<ShieldCheck size={16} />}
    >
      Proofs
    </ButtonLink>
    <ViewsMenu />
  </>
)

export const AnalyticsPage = () => (
  <Page title="Analytics" actions={<Actions />}>
    <AnalyticsPanel fixed={NO_FIXED_FILTERS} />
  </Page>
)

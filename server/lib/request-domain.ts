// The domain of a request, for endpoints that exist on every domain: forms, and the snippet's intake.

export interface RequestDomain {
  /** '' is the default domain. */
  name: string
  /**
   * The workspace of the domain, and only its links and forms answer there; null on the default domain, which all
   * workspaces share.
   */
  workspaceId: number | null
}

/**
 * Whether a form or link of this workspace answers on the domain. A form of another workspace on a company's domain
 * would show its text under the company's name, and would receive data past the company's Content-Security-Policy
 * (docs/adr/0047-across-domains.md).
 */
export const servesWorkspace = (domain: RequestDomain, workspaceId: number): boolean =>
  domain.workspaceId === null || domain.workspaceId === workspaceId

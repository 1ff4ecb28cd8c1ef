import type { RestLabel, RestMilestone, RestUser } from '../rest.ts';

/** Records that others name, as GraphQL tells of them. */
export const userNode = (user: RestUser | null) =>
  user === null
    ? null
    : {
        __typename: user.type === 'Organization' ? 'Organization' : 'User',
        id: user.node_id,
        databaseId: user.id,
        login: user.login,
        name: user.name ?? user.login,
        url: user.html_url,
        avatarUrl: user.avatar_url,
        resourcePath: `/${user.login}`,
        email: '',
      };

export const labelNode = (label: RestLabel) => ({
  __typename: 'Label',
  id: label.node_id,
  name: label.name,
  color: label.color,
  description: label.description,
  isDefault: label.default,
  url: label.url,
});

export const milestoneNode = (milestone: RestMilestone | null) =>
  milestone && {
    __typename: 'Milestone',
    id: milestone.node_id,
    number: milestone.number,
    title: milestone.title,
    description: milestone.description,
    dueOn: milestone.due_on,
    state: milestone.state.toUpperCase(),
    closed: milestone.state === 'closed',
    url: milestone.html_url,
  };

import { ITEM_TYPES } from '../case/start.tsx';
import { Do } from '../do.tsx';

/** Makes a Work item by its title alone, and stays where one is. */
export const NewHere = ({ project }: { project: string | undefined }) => (
  <details class="new-here">
    <summary data-key="n">New on the board</summary>
    <Do call="POST /cases" {...(project !== undefined && { body: { project } })} class="line">
      <input
        {...{ name: 'title', required: true, autocomplete: 'off', size: 32 }}
        aria-label="Title"
        placeholder="What is to be done"
      />
      <select name="type" aria-label="Type of the new one">
        {ITEM_TYPES.map((type) => (
          <option key={type} value={type} selected={type === 'task'}>
            {type}
          </option>
        ))}
      </select>
      <button type="submit" class="primary">
        Add
      </button>
    </Do>
  </details>
);

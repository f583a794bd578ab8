import pytest

import arbornet as an


def test_bundled_tables_have_the_shapes_their_readme_states():
    assert an.example("patients").shape == (600, 12)
    assert an.example("penguins").shape == (344, 8)
    assert an.example("survey").shape == (900, 11)


def test_an_unknown_example_names_the_known_ones():
    with pytest.raises(an.ArbornetError, match="patients, penguins, survey"):
        an.example("iris")
